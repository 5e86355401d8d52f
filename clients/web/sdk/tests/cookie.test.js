import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'

import { MemoryStore, Vestibule, VestibuleOffline, VestibuleProblem, VestibuleSignedOut } from '../vestibule.js'
import { Proxy, problem } from './proxy.js'
import { ADDRESS, newPhone, signIn, signedIn } from './system.js'

const RENEWAL = 'POST /auth/web-session'
const END = 'DELETE /auth/web-session'
/** @type {Proxy} */
let proxy
/** @type {string} */
let address
/** The only cookie of the browser that these tests play. @type {string | undefined} */
let cookie
/** What was answered, such as `204 POST /auth/logout`. @type {(answered: string) => void} */
let heard = () => {}

const { fetch } = globalThis
before(async () => {
    proxy = new Proxy(ADDRESS)
    address = await proxy.open()
    globalThis.fetch = async (/** @type {any} */ url, /** @type {any} */ options) => {
        if (options.credentials === 'same-origin') {
            options.headers.set('origin', address)
            if (cookie) options.headers.set('cookie', cookie)
        }
        const response = await fetch(url, options)
        const [set] = response.headers.getSetCookie()
        if (set) cookie = /Max-Age=0/.test(set) ? undefined : set.split(';')[0]
        heard(`${response.status} ${options.method} ${new URL(url).pathname}`)
        return response
    }
})
after(() => {
    globalThis.fetch = fetch
    proxy.close()
})
beforeEach(() => {
    proxy.requests = []
    proxy.fate = () => 'pass'
    cookie = undefined
    heard = () => {}
})

/**
 * A page that was opened, or opened anew.
 * @param {MemoryStore} store
 */
const page = store => new Vestibule({ address, session: 'cookie', store })

/** @param {string} expected */
const answered = expected => new Promise(resolve => {
    heard = answer => { if (answer === expected) resolve(undefined) }
})

/**
 * Lets pages hear of the network, as in a browser; what tells them.
 * @param {import('node:test').TestContext} context
 */
function network(context) {
    const events = new EventTarget()
    Object.assign(globalThis, { addEventListener: events.addEventListener.bind(events) })
    context.after(() => { Reflect.deleteProperty(globalThis, 'addEventListener') })
    return () => events.dispatchEvent(new Event('online'))
}

describe('the session in a cookie', { timeout: 60_000 }, () => {
    test('of the person before is nobody\'s after a sign-in that failed', async () => {
        const store = new MemoryStore()
        const first = page(store)
        const { user: { id } } = await signIn(first, newPhone())
        proxy.fate = request => request === END ? 'before' : 'pass'
        assert.equal(await first.signOut(), false)
        proxy.fate = request => request === RENEWAL ? 'before' : 'pass'
        /** @type {any[]} */
        const told = []
        first.onSession(state => told.push(state))
        await assert.rejects(signIn(first, newPhone()), VestibuleOffline)
        assert.deepEqual([first.user, told], [undefined, []])
        proxy.fate = () => 'pass'
        const reloaded = page(store)
        await assert.rejects(reloaded.getMe(), VestibuleSignedOut)
        const second = await signIn(reloaded, newPhone())
        assert.notEqual(second.user.id, id)
        assert.equal((await page(store).getMe()).value.id, second.user.id)
    })

    test('has to end before another person signs in', async () => {
        const store = new MemoryStore()
        const vestibule = page(store)
        await signIn(vestibule, newPhone())
        proxy.fate = request => request === END ? 'before' : 'pass'
        await vestibule.signOut()
        await assert.rejects(signIn(vestibule, newPhone()), VestibuleOffline)
        assert.deepEqual([vestibule.user, (await store.read('session')).isEnding], [undefined, true])
    })

    test('is refused where it is another one than the page knows', async () => {
        const store = new MemoryStore()
        const first = page(store)
        await signIn(first, newPhone())
        const other = cookie
        cookie = undefined
        await signIn(page(store), newPhone())
        cookie = other
        const reloaded = page(store)
        assert.equal(await reloaded.start(), 'signedIn')
        const ended = answered(`204 ${END}`)
        await assert.rejects(reloaded.getMe(), VestibuleSignedOut)
        assert.equal(reloaded.user, undefined)
        await ended
        assert.equal(cookie, undefined)
    })

    test('ends at the server when somebody else signs in over it', async () => {
        const store = new MemoryStore()
        const phone = newPhone()
        const vestibule = page(store)
        await signIn(vestibule, phone)
        const { vestibule: other } = await signedIn({ phone })
        assert.equal((await other.listSessions()).sessions.length, 2)
        const { user } = await signIn(vestibule, newPhone())
        assert.equal((await vestibule.getMe()).value.id, user.id)
        assert.equal((await other.listSessions()).sessions.length, 1)
    })

    test('ends at the server where it gets no cookie', async () => {
        const vestibule = page(new MemoryStore())
        proxy.fate = request => request === RENEWAL ? problem(403, 'forbidden') : 'pass'
        const ended = answered('204 POST /auth/logout')
        await assert.rejects(signIn(vestibule, newPhone()), error => error instanceof VestibuleProblem && error.status === 403)
        assert.equal(vestibule.user, undefined)
        await ended
    })

    test('ends at the server as soon as there is a network', async context => {
        const online = network(context)
        const vestibule = page(new MemoryStore())
        await signIn(vestibule, newPhone())
        proxy.fate = request => request === END ? 'before' : 'pass'
        assert.equal(await vestibule.signOut(), false)
        proxy.fate = () => 'pass'
        const ended = answered(`204 ${END}`)
        online()
        await ended
        assert.equal(cookie, undefined)
    })

    test('that another tab got stays when this one hears of the network', async context => {
        const online = network(context)
        const store = new MemoryStore()
        const vestibule = page(store)
        await signIn(vestibule, newPhone())
        proxy.fate = request => request === END ? 'before' : 'pass'
        await vestibule.signOut()
        proxy.fate = () => 'pass'
        const other = page(store)
        const { user } = await signIn(other, newPhone())
        proxy.requests = []
        online()
        assert.equal((await page(store).getMe()).value.id, user.id)
        assert.deepEqual(proxy.requests, [RENEWAL, 'GET /users/me'])
    })

    test('forgets answers at a sign-out before the server has answered', async () => {
        const store = new MemoryStore()
        const vestibule = page(store)
        await signIn(vestibule, newPhone())
        const { id: session } = await vestibule.openSession({ questionnaire: 'skin-care' })
        proxy.fate = request => request.endsWith('/answers:batch') ? 'before' : 'pass'
        await vestibule.answers({ questionnaire: 'skin-care', session }).put({ question: 'skinType', state: 'answered', value: 'dry' })
        assert.equal((await store.keys('answers/')).length, 1)
        const forgotten = new Promise(resolve => {
            const change = store.change.bind(store)
            store.change = async (key, ...rest) => {
                const changed = await change(key, ...rest)
                if (key.startsWith('answers/') && changed === undefined) resolve('forgotten')
                return changed
            }
        })
        /** @type {unknown} */
        let first
        forgotten.then(what => { first ??= what })
        heard = answer => { if (answer === `204 ${END}`) first ??= answer }
        assert.equal(await vestibule.signOut(), true)
        assert.equal(first, 'forgotten')
        vestibule.close()
    })
})
