import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'

import {
    MemoryStore, Resend, Vestibule, VestibuleNotModified, VestibuleOffline, VestibuleProblem, VestibuleSignedOut,
    VestibuleStoreFailed, VestibuleUnreadable,
} from '../vestibule.js'
import { Proxy, problem } from './proxy.js'
import { ADDRESS, messages, newPhone, signIn, signedIn } from './system.js'

const RENEWAL = 'POST /auth/token/refresh'
const LOGOUT = 'POST /auth/logout'
const proxy = new Proxy(ADDRESS)
const address = await proxy.open()
after(() => proxy.close())
beforeEach(() => {
    proxy.requests = []
    proxy.fate = () => 'pass'
})

/**
 * The next requests of a kind have these fates, in turn; all others pass.
 * @param {string} request
 * @param {...string} fates
 */
function fates(request, ...fates) {
    proxy.fate = each => each === request ? fates.shift() ?? 'pass' : 'pass'
}

/** @param {string} request */
const count = request => proxy.requests.filter(each => each === request).length

/**
 * The time is the end of every access token.
 * @param {import('node:test').TestContext} context
 */
function tokensEnd(context) {
    const now = Date.now
    context.mock.method(Date, 'now', () => now() + 15 * 60_000)
}

/** @param {string} code */
const hasCode = code => (/** @type {any} */ error) => error instanceof VestibuleProblem && error.code === code

describe('calls', () => {
    test('a person signs in, and reads and changes the profile', async () => {
        const vestibule = new Vestibule({ address, session: 'tokens' })
        assert.equal(await vestibule.start(), 'signedOut')
        await assert.rejects(vestibule.getMe(), VestibuleSignedOut)
        /** @type {any[]} */
        const told = []
        vestibule.onSession(state => told.push(state))
        const session = await signIn(vestibule, newPhone())
        assert.equal(vestibule.user?.id, session.user.id)
        assert.deepEqual(Object.keys(session).filter(member => /token$|secret/i.test(member)), [])
        const me = await vestibule.getMe()
        const changed = await vestibule.updateMe({ body: { displayName: 'Åsa' }, ifMatch: me.eTag })
        assert.equal(changed.value.profile.displayName, 'Åsa')
        await assert.rejects(vestibule.updateMe({ body: { displayName: 'Bo' }, ifMatch: me.eTag }), hasCode('precondition_failed'))
        assert.equal(await vestibule.signOut(), true)
        assert.equal(vestibule.user, undefined)
        assert.deepEqual(told.map(({ state, reason }) => [state, reason]), [['signedIn', 'signIn'], ['signedOut', 'signOut']])
    })

    test('a problem says what is wrong, in the language of the call', async () => {
        const vestibule = new Vestibule({ address, session: 'tokens', language: 'sv-SE' })
        await assert.rejects(vestibule.sendOTP({ body: { phone: '12' } }), error => {
            assert(error instanceof VestibuleProblem)
            assert.equal(error.status, 422)
            assert.match(error.detail, /numret|nummer/i)
            assert.match(error.traceId, /^[0-9a-f]{32}$/)
            return true
        })
    })

    test('the app key goes where an app names itself', async () => {
        const vestibule = new Vestibule({ address, session: 'tokens', appKey: 'nobody-has-this' })
        await assert.rejects(vestibule.getAuthMethods(), hasCode('app_unknown'))
        await assert.rejects(signIn(vestibule, newPhone()), hasCode('app_unknown'))
    })

    test('what has not changed is not sent again', async () => {
        const { vestibule } = await signedIn()
        const { eTag } = await vestibule.getProfileFields()
        await assert.rejects(vestibule.getProfileFields({ ifNoneMatch: eTag }), VestibuleNotModified)
    })

    test('a call without an answer is sent again, and a POST is done once', async () => {
        const vestibule = new Vestibule({ address, session: 'tokens' })
        const phone = newPhone()
        fates('POST /auth/otp/send', 'before', 'after', 'after')
        const { challengeId } = await vestibule.sendOTP({ body: { phone } })
        assert.equal(count('POST /auth/otp/send'), 4)
        let sent
        do sent = await vestibule.getCodeDelivery({ challengeId })
        while (sent.delivery === 'queued')
        assert.equal(messages(phone).length, 1)
    })

    test('an app gets the error where the network stays away', async () => {
        const { vestibule } = await signedIn({ address })
        fates('GET /users/me', 'before', 'after', 'before', 'before', 'before')
        await assert.rejects(vestibule.getMe(), VestibuleOffline)
        assert.equal(count('GET /users/me'), 4)
        assert.equal((await vestibule.getMe()).value.id, vestibule.user?.id)
    })

    test('a busy server is asked again after the time that it says', async () => {
        const { vestibule } = await signedIn({ address })
        fates('GET /users/me', problem(503, 'overloaded', { retryAfterSeconds: 1 }), problem(429, 'rate_limited'))
        const began = performance.now()
        await vestibule.getMe()
        assert.ok(performance.now() - began >= 1000)
        fates('GET /users/me', problem(503, 'overloaded', { retryAfterSeconds: 60 }))
        await assert.rejects(vestibule.getMe(), hasCode('overloaded'))
        fates('GET /users/me', 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<html>')
        await assert.rejects(vestibule.getMe(), VestibuleUnreadable)
    })

    test('an app ends a call that it does not need any more', async () => {
        const vestibule = new Vestibule({ address, session: 'tokens' })
        const controller = new AbortController()
        proxy.fate = () => { controller.abort(new Error('the person left')); return 'pass' }
        await assert.rejects(vestibule.getAuthMethods({ signal: controller.signal }), /the person left/)
    })

    test('a picture that is none is refused as such', async () => {
        const { vestibule } = await signedIn()
        const picture = new Blob(['no picture'], { type: 'image/png' })
        const body = { kind: 'profile_photo', contentType: picture.type, length: picture.size }
        const { uploadUrl } = await vestibule.createUpload({ body })
        await assert.rejects(vestibule.upload(uploadUrl, picture), hasCode('image_unreadable'))
        await assert.rejects(vestibule.upload(uploadUrl, picture), hasCode('upload_used'))
    })

    test('the time until another code is counted', () => {
        /** @type {number[]} */
        const ticks = []
        const resend = new Resend(60)
        resend.onTick(left => ticks.push(left))
        resend.stop()
        assert.deepEqual(ticks, [60])
        assert.equal(new Resend(0).secondsLeft, 0)
    })
})

describe('the session', () => {
    test('is renewed once, however many calls ask', async context => {
        const { vestibule } = await signedIn({ address })
        tokensEnd(context)
        await Promise.all(Array.from({ length: 20 }, () => vestibule.getMe()))
        assert.equal(count(RENEWAL), 1)
    })

    test('is renewed once where the server refuses the token of several calls', async () => {
        const { vestibule } = await signedIn({ address })
        const expired = problem(401, 'token_expired')
        fates('GET /users/me', expired, expired, expired)
        await Promise.all([vestibule.getMe(), vestibule.getMe(), vestibule.getMe()])
        assert.equal(count(RENEWAL), 1)
    })

    test('goes on after an app was killed before it saved the new tokens', async context => {
        const { vestibule, store } = await signedIn({ address })
        tokensEnd(context)
        fates(RENEWAL, 'after', 'after', 'after', 'after')
        await assert.rejects(vestibule.getMe(), VestibuleOffline)
        const restarted = new Vestibule({ address, session: 'tokens', store })
        assert.equal(await restarted.start(), 'signedIn')
        assert.equal((await restarted.getMe()).value.id, vestibule.user?.id)
    })

    test('saves new tokens before it uses them', async context => {
        const { vestibule, store } = await signedIn({ address })
        tokensEnd(context)
        proxy.requests = []
        const change = store.change.bind(store)
        store.change = async () => { throw new Error('the keychain is locked') }
        await assert.rejects(vestibule.getMe(), VestibuleStoreFailed)
        assert.deepEqual(proxy.requests, [RENEWAL])
        store.change = change
        await vestibule.getMe()
        assert.ok(vestibule.user)
    })

    test('stays without a network, and at faults of the server', async context => {
        const { vestibule, store } = await signedIn({ address })
        tokensEnd(context)
        for (const fate of ['before', problem(500, 'internal_error'), problem(429, 'rate_limited', { retryAfterSeconds: 60 })]) {
            proxy.fate = () => fate
            await assert.rejects(vestibule.getMe(), error => !(error instanceof VestibuleSignedOut))
            assert.equal(await new Vestibule({ address, session: 'tokens', store }).start(), 'signedIn')
        }
        proxy.fate = () => 'pass'
        await vestibule.getMe()
    })

    test('stays where a page of somebody between comes in place of new tokens', async context => {
        const { vestibule, store } = await signedIn({ address })
        tokensEnd(context)
        for (const body of ['<html>', '{"status":"ok"}', '{"accessToken":"a"}']) {
            fates(RENEWAL, `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`)
            await assert.rejects(vestibule.getMe(), VestibuleUnreadable)
            assert.equal(await new Vestibule({ address, session: 'tokens', store }).start(), 'signedIn')
        }
        assert.equal((await vestibule.getMe()).value.id, vestibule.user?.id)
    })

    test('does not begin with an answer that has none', async () => {
        const vestibule = new Vestibule({ address, session: 'tokens' })
        const body = '{"accessToken":"a"}'
        fates('POST /auth/otp/verify', `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`)
        await assert.rejects(signIn(vestibule, newPhone()), VestibuleUnreadable)
        assert.equal(await vestibule.start(), 'signedOut')
    })

    test('of another person does not do what the person before asked for', async context => {
        const { vestibule } = await signedIn()
        const { fetch } = globalThis
        context.mock.method(globalThis, 'fetch', async (/** @type {any} */ url, /** @type {any} */ options) => {
            if (options.method !== 'PATCH' || vestibule.user?.id !== first) return fetch(url, options)
            await vestibule.signOut()
            await signIn(vestibule, newPhone())
            return Response.json({ status: 401, code: 'token_revoked' }, { status: 401 })
        })
        const first = vestibule.user?.id
        await assert.rejects(vestibule.updateMe({ body: { displayName: 'Anna' } }), VestibuleSignedOut)
        assert.notEqual(vestibule.user?.id, first)
        assert.equal((await vestibule.getMe()).value.profile.displayName, undefined)
    })

    test('uses a token that ends soon while it is renewed', async context => {
        const { vestibule } = await signedIn({ address })
        const now = Date.now
        context.mock.method(Date, 'now', () => now() + 14.5 * 60_000)
        fates(RENEWAL, 'before', 'before', 'before', 'before')
        await vestibule.getMe()
        // The renewal runs beside the call.
        assert.ok(count(RENEWAL) <= 1)
    })

    test('ends where the server ended it', async () => {
        const { vestibule } = await signedIn()
        /** @type {any[]} */
        const told = []
        vestibule.onSession(state => told.push(state))
        await vestibule.endSession({ session: vestibule.sessionId ?? '' })
        // The gateway knows within a second.
        await assert.rejects(async () => { for (;;) await vestibule.getMe() }, hasCode('token_revoked'))
        assert.deepEqual(told, [{ state: 'signedOut', user: undefined, reason: 'token_revoked' }])
        await assert.rejects(vestibule.getMe(), VestibuleSignedOut)
    })

    test('ends where a thief used its refresh token', async context => {
        const { vestibule, store } = await signedIn()
        const stolen = (await store.read('session')).refreshToken
        tokensEnd(context)
        await vestibule.getMe()
        // The pair has to be used before the old one is dead.
        tokensEnd(context)
        await vestibule.getMe()
        const answer = await fetch(`${ADDRESS}/auth/token/refresh`, {
            method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ refreshToken: stolen }) })
        assert.equal((await answer.json()).code, 'refresh_token_reused')
        tokensEnd(context)
        await assert.rejects(vestibule.getMe(), VestibuleSignedOut)
        assert.equal(vestibule.user, undefined)
    })

    test('is that of the same device after a sign-out', async () => {
        const { vestibule, phone, store } = await signedIn()
        const { deviceId } = await store.read('session')
        await vestibule.signOut()
        const { refreshToken, accessToken, deviceSecret } = await store.read('session')
        assert.deepEqual([refreshToken, accessToken, typeof deviceSecret], [undefined, undefined, 'string'])
        assert.equal((await signIn(vestibule, phone)).deviceId, deviceId)
    })

    test('leaves nothing on the device after a deletion', async () => {
        const { vestibule, store } = await signedIn()
        await vestibule.deleteAccount()
        assert.equal(await vestibule.forget(), true)
        assert.deepEqual(Object.keys(await store.read('session')), ['generation'])
        vestibule.close()
    })

    test('is ended at the server by a sign-out after its access token', async () => {
        const { vestibule, phone } = await signedIn({ address })
        const { vestibule: other } = await signedIn({ phone })
        fates(LOGOUT, problem(401, 'token_expired'))
        assert.equal(await vestibule.signOut(), true)
        assert.deepEqual(proxy.requests.slice(-3), [LOGOUT, RENEWAL, LOGOUT])
        assert.deepEqual((await other.listSessions()).sessions.map(({ id }) => id), [other.sessionId])
    })

    test('is not ended at the server where somebody between answered a sign-out', async () => {
        const { vestibule } = await signedIn({ address })
        fates(LOGOUT, problem(401, 'unheard_of'))
        assert.equal(await vestibule.signOut(), false)
        assert.equal(vestibule.user, undefined)
    })

    test('is shared by clients of one store', async context => {
        const { vestibule, store } = await signedIn({ address })
        const second = new Vestibule({ address, session: 'tokens', store })
        await second.getMe()
        tokensEnd(context)
        await vestibule.getMe()
        await second.getMe()
        assert.equal(count(RENEWAL), 1)
    })

    test('a store that cannot be read signs nobody out', async () => {
        const { store } = await signedIn()
        const locked = new MemoryStore()
        locked.read = async () => { throw new Error('the keychain is locked') }
        const vestibule = new Vestibule({ address, session: 'tokens', store: locked })
        await assert.rejects(vestibule.getMe(), VestibuleStoreFailed)
        locked.read = key => store.read(key)
        assert.ok((await vestibule.getMe()).value.id)
    })
})
