import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import {
    MemoryStore, Vestibule, VestibuleOffline, VestibuleSignedOut, VestibuleStoreFailed, VestibuleUnreadable,
} from '../vestibule.js'
import { Proxy, problem } from './proxy.js'
import { ADDRESS, newPhone, signIn, signedIn } from './system.js'

const CUTS = Number(process.env.CUTS ?? 30)
const questionnaire = 'skin-care'
const proxy = new Proxy(ADDRESS)
const address = await proxy.open()
after(() => proxy.close())

/** @param {Vestibule} vestibule */
async function opened(vestibule) {
    const { id: session } = await vestibule.openSession({ questionnaire })
    return { questionnaire, session }
}

/**
 * What the server has: the value and the revision of each answer.
 * @param {Vestibule} vestibule
 * @param {{ questionnaire: string, session: string }} of
 */
async function stored(vestibule, of) {
    const { answers } = await vestibule.getSession(of)
    return Object.fromEntries(answers.map(({ question, value, revision }) => [question, { value, revision }]))
}

describe('the queue', () => {
    test(`nothing is lost or doubled in ${CUTS} random cuts`, async () => {
        const { vestibule, store } = await signedIn({ address })
        const of = await opened(vestibule)
        let seed = Number(process.env.SEED ?? Date.now() % 1e6)
        console.log(`SEED=${seed} CUTS=${CUTS}`)
        const random = () => (seed = seed * 16807 % 2147483647) / 2147483647
        let cuts = 0
        proxy.fate = request => {
            if (!request.endsWith('/answers:batch') || cuts >= CUTS || random() < 0.4) return 'pass'
            cuts += 1
            return ['before', 'after', problem(503, 'overloaded')][Math.floor(random() * 3)]
        }
        // Each write differs from the one before it, so that each is a revision of its own.
        const values = /** @type {Record<string, string[]>} */ ({ gender: ['female', 'male'], skinType: ['dry', 'oily'] })
        const written = /** @type {Record<string, number>} */ ({ gender: 0, skinType: 0 })
        let app = vestibule
        let queue = app.answers(of)
        let kills = 0
        while (cuts < CUTS) {
            for (const question of random() < 0.5 ? ['gender', 'skinType'] : ['skinType', 'gender']) {
                // The person sees the answer that was given last.
                const isWaiting = queue.state.writes.some(each => each.question === question)
                const known = isWaiting ? 0 : (await view(app, of))[question] ?? 0
                const value = values[question][written[question] % 2]
                written[question] += 1
                await queue.put({ question, state: 'answered', value, baseRevision: known })
            }
            // Not waited for: the person goes on, or the app is killed while it sends.
            const sending = queue.send()
            if (random() < 0.3) {
                kills += 1
                app.close()
                app = new Vestibule({ address, session: 'tokens', store })
                await app.start()
                queue = app.answers(of)
                await queue.load()
            } else await sending
        }
        proxy.fate = () => 'pass'
        let state
        do state = await queue.send()
        while (state.writes.length > 0)
        assert.deepEqual([state.conflicts, state.refused], [[], []])
        for (const question of Object.keys(written)) {
            const value = values[question][(written[question] - 1) % 2]
            assert.deepEqual((await stored(app, of))[question], { value, revision: written[question] }, question)
        }
        console.log(`${cuts} cuts, ${kills} kills, ${written.gender + written.skinType} writes`)
        app.close()
    })

    test('the person chooses between the answers of two devices', async () => {
        const { vestibule: phone, phone: number } = await signedIn()
        const of = await opened(phone)
        const tablet = new Vestibule({ address: ADDRESS, session: 'tokens' })
        await signIn(tablet, number)
        const [first, second] = [phone.answers(of), tablet.answers(of)]
        await first.put({ question: 'skinType', state: 'answered', value: 'dry', device: 'Phone of Anna' })
        await first.send()
        await second.put({ question: 'skinType', state: 'answered', value: 'oily', baseRevision: 0 })
        await second.put({ question: 'gender', state: 'answered', value: 'female', baseRevision: 0 })
        const { conflicts: [conflict], writes } = await second.send()
        assert.deepEqual(writes, [])
        assert.deepEqual([conflict.mine.value, conflict.theirs], ['oily', {
            device: 'Phone of Anna', revision: 1, state: 'answered', value: 'dry' }])
        await second.keepMine(conflict)
        assert.deepEqual((await second.send()).conflicts, [])
        assert.deepEqual((await stored(phone, of)).skinType, { value: 'oily', revision: 2 })

        await first.put({ question: 'skinType', state: 'answered', value: 'normal' })
        const { conflicts: [other] } = await first.send()
        assert.equal(other.theirs.value, 'oily')
        await first.keepTheirs(other)
        assert.deepEqual((await first.send()).conflicts, [])
        assert.deepEqual((await stored(phone, of)).skinType, { value: 'oily', revision: 2 })
        // Now it has seen the other answer.
        await first.put({ question: 'skinType', state: 'answered', value: 'normal' })
        assert.deepEqual((await first.send()).conflicts, [])
        for (const each of [phone, tablet]) each.close()
    })

    test('several answers to one question are several revisions, without a conflict', async () => {
        const { vestibule } = await signedIn()
        const of = await opened(vestibule)
        const queue = vestibule.answers(of)
        for (const value of ['dry', 'oily', 'normal']) await queue.put({ question: 'skinType', state: 'answered', value })
        assert.deepEqual((await queue.send()).conflicts, [])
        assert.deepEqual((await stored(vestibule, of)).skinType, { value: 'normal', revision: 3 })
        vestibule.close()
    })

    /** A page that is opened while an answer of the page before it waits. */
    async function openedWithOneWaiting() {
        const { vestibule, store, phone } = await signedIn({ address })
        const of = await opened(vestibule)
        proxy.fate = request => request.endsWith('/answers:batch') ? 'before' : 'pass'
        await vestibule.answers(of).put({ question: 'skinType', state: 'answered', value: 'dry' })
        vestibule.close()
        const later = new Vestibule({ address, session: 'tokens', store })
        await later.start()
        return { later, of, phone, store }
    }

    test('an answer after one that waited and was never shown has not seen it', async () => {
        const { later, of } = await openedWithOneWaiting()
        const queue = later.answers(of)
        proxy.fate = () => 'pass'
        assert.deepEqual((await queue.send()).writes, [])
        await queue.put({ question: 'skinType', state: 'answered', value: 'oily', baseRevision: 0 })
        assert.equal((await queue.send()).conflicts.length, 1)
        later.close()
    })

    test('an answer after one that waited when the page was opened has seen it', async () => {
        const { later, of } = await openedWithOneWaiting()
        const queue = later.answers(of)
        const { writes: [shown] } = await queue.load()
        assert.equal(shown.value, 'dry')
        proxy.fate = () => 'pass'
        assert.deepEqual((await queue.send()).writes, [])
        // The page still has the revision that the server had when it was drawn.
        await queue.put({ question: 'skinType', state: 'answered', value: 'oily', baseRevision: 0 })
        assert.deepEqual((await queue.send()).conflicts, [])
        assert.deepEqual((await stored(later, of)).skinType, { value: 'oily', revision: 2 })
        later.close()
    })

    test('what waits is sent when the app is opened again, without a call for its session', async () => {
        const { later, of } = await openedWithOneWaiting()
        const [queue] = await later.queues()
        assert.equal((await queue.load()).writes.length, 1)
        proxy.fate = () => 'pass'
        await arrived(later, of)
        later.close()
    })

    test('what waits is sent after the next sign-in, without a call for its session', async () => {
        const { later: before, of, phone, store } = await openedWithOneWaiting()
        await before.endSession({ session: before.sessionId ?? '' })
        await assert.rejects(async () => { for (;;) await before.getMe() })
        before.close()
        const later = new Vestibule({ address, session: 'tokens', store })
        assert.equal(await later.start(), 'signedOut')
        assert.deepEqual(await later.queues(), [])
        proxy.fate = () => 'pass'
        await signIn(later, phone)
        await arrived(later, of)
        later.close()
    })

    test('who shows what waits is told that a sign-out took it away', async () => {
        const { later, of } = await openedWithOneWaiting()
        const queue = later.answers(of)
        await queue.load()
        /** @type {number[]} */
        const told = []
        queue.onChange(({ writes }) => told.push(writes.length))
        await later.signOut()
        await queue.send()
        assert.equal(told.at(-1), 0)
        later.close()
    })

    test('an answer that the server does not take is shown, until another is given', async () => {
        const { vestibule } = await signedIn()
        const queue = vestibule.answers(await opened(vestibule))
        await queue.put({ question: 'skinType', state: 'answered', value: 'no such type' })
        const { refused } = await queue.send()
        assert.deepEqual(refused.map(({ write, error }) => [write.value, error.code]), [['no such type', 'validation_failed']])
        await queue.put({ question: 'skinType', state: 'answered', value: 'dry' })
        assert.deepEqual((await queue.send()).refused, [])
        vestibule.close()
    })

    test('an answer for which a whole request is refused does not hold up the others', async () => {
        const { vestibule } = await signedIn()
        const of = await opened(vestibule)
        const queue = vestibule.answers(of)
        await queue.put({ question: 'gender', state: 'answered', value: 'female' })
        await queue.put({ question: 'skinGoals', subject: 'no UUID', state: 'answered', value: 'dry' })
        await queue.put({ question: 'birthdate', state: 'answered', value: '1'.repeat(70_000) })
        await queue.put({ question: 'skinType', state: 'answered', value: 'dry' })
        const { writes, refused } = await queue.send()
        assert.deepEqual(writes, [])
        assert.deepEqual(refused.map(({ write, error }) => [write.question, error.code]), [
            ['skinGoals', 'validation_failed'], ['birthdate', 'body_too_large']])
        assert.deepEqual(Object.keys(await stored(vestibule, of)).sort(), ['gender', 'skinType'])
        vestibule.close()
    })

    test('waits where an answer says nothing about what was sent', async () => {
        const { vestibule } = await signedIn({ address })
        const of = await opened(vestibule)
        const queue = vestibule.answers(of)
        await queue.load()
        let count = 0
        for (const body of ['{"results":[]}', '{"results":[null]}', '{"status":"ok"}', '"ok"', '', '<html>']) {
            count = 0
            proxy.fate = request => {
                if (!request.endsWith('/answers:batch')) return 'pass'
                count += 1
                // Otherwise the queue would go on for ever.
                return count > 3 ? 'before'
                    : `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`
            }
            await queue.put({ question: 'skinType', state: 'answered', value: 'dry' })
            const { error } = await queue.send()
            assert.ok(error instanceof VestibuleUnreadable, body)
            assert.ok(count <= 2, `${count} requests`)
        }
        proxy.fate = () => 'pass'
        assert.deepEqual((await queue.send()).writes, [])
        vestibule.close()
    })

    test('a page of a proxy refuses nothing', async () => {
        const { vestibule } = await signedIn({ address })
        const of = await opened(vestibule)
        const queue = vestibule.answers(of)
        for (const question of ['skinType', 'gender']) await queue.put({ question, state: 'answered', value: 'dry' })
        for (const status of [400, 413, 422]) {
            proxy.fate = request => request.endsWith('/answers:batch')
                ? `HTTP/1.1 ${status} -\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<html>` : 'pass'
            const { error, writes, refused } = await queue.send()
            assert.ok(error instanceof VestibuleUnreadable)
            assert.deepEqual([writes.length, refused], [2, []], String(status))
        }
        proxy.fate = () => 'pass'
        await queue.clear()
        vestibule.close()
    })

    test('what is put while the queue is sent is sent, too', async () => {
        const { vestibule } = await signedIn({ address })
        const of = await opened(vestibule)
        const queue = vestibule.answers(of)
        /** @type {Promise<string> | undefined} */
        let put
        proxy.fate = request => {
            if (request.endsWith('/answers:batch')) put ??= queue.put({ question: 'gender', state: 'answered', value: 'female' })
            return 'pass'
        }
        await queue.put({ question: 'skinType', state: 'answered', value: 'dry' })
        await queue.send()
        await put
        assert.deepEqual((await queue.send()).writes, [])
        assert.deepEqual(Object.keys(await stored(vestibule, of)).sort(), ['gender', 'skinType'])
        vestibule.close()
    })

    test('a session that was stopped waits for the app', async () => {
        const { vestibule } = await signedIn()
        const of = await opened(vestibule)
        const queue = vestibule.answers(of)
        await vestibule.stopSession(of)
        await queue.put({ question: 'skinType', state: 'answered', value: 'dry' })
        const { blocked, writes } = await queue.send()
        assert.deepEqual([blocked, writes.length], ['session_stopped', 1])
        await queue.clear()
        assert.deepEqual([queue.state.blocked, queue.state.writes], [undefined, []])
        vestibule.close()
    })

    test('a version that takes no answers waits for the app to move the session', async () => {
        const { vestibule } = await signedIn({ address })
        const of = await opened(vestibule)
        const queue = vestibule.answers(of)
        proxy.fate = request => request.endsWith('/answers:batch') ? problem(409, 'version_closed') : 'pass'
        await queue.put({ question: 'skinType', state: 'answered', value: 'dry' })
        assert.equal((await queue.send()).blocked, 'version_closed')
        proxy.fate = () => 'pass'
        assert.equal((await queue.send()).writes.length, 1)
        await vestibule.migrateSession({ ...of, dryRun: 'true' })
        await queue.unblock()
        assert.deepEqual((await queue.send()).writes, [])
        assert.deepEqual((await stored(vestibule, of)).skinType, { value: 'dry', revision: 1 })
        vestibule.close()
    })

    test('an answer that cannot be saved on the device is not sent', async () => {
        const { vestibule, store } = await signedIn({ address })
        const of = await opened(vestibule)
        const queue = vestibule.answers(of)
        await queue.load()
        proxy.requests = []
        const change = store.change.bind(store)
        store.change = async () => { throw new Error('the disk is full') }
        await assert.rejects(queue.put({ question: 'skinType', state: 'answered', value: 'dry' }), VestibuleStoreFailed)
        store.change = change
        assert.deepEqual((await queue.send()).writes, [])
        assert.deepEqual(proxy.requests.filter(each => each.endsWith('/answers:batch')), [])
        vestibule.close()
    })

    test('answers outlive the end of the session, but not a sign-out', async () => {
        const { vestibule, store, phone } = await signedIn({ address })
        const of = await opened(vestibule)
        proxy.fate = request => request.endsWith('/answers:batch') ? 'before' : 'pass'
        await vestibule.answers(of).put({ question: 'skinType', state: 'answered', value: 'dry' })
        const { error, writes } = await vestibule.answers(of).send()
        assert.ok(error instanceof VestibuleOffline)
        assert.equal(writes.length, 1)
        await vestibule.endSession({ session: vestibule.sessionId ?? '' })
        await assert.rejects(async () => { for (;;) await vestibule.getMe() })
        await signIn(vestibule, phone)
        assert.equal((await vestibule.answers(of).load()).writes.length, 1)
        await vestibule.signOut()
        assert.deepEqual(await store.keys('answers/'), [])
        proxy.fate = () => 'pass'
        vestibule.close()
    })

    test('what waits is not sent for the next person, and an answer that comes late brings nothing back', async context => {
        const { vestibule, store } = await signedIn()
        const of = await opened(vestibule)
        const queue = vestibule.answers(of)
        const { fetch } = globalThis
        /** @type {(answer: Response) => void} */
        let answer = () => {}
        /** @type {string[]} */
        const senders = []
        const sent = new Promise(resolve => {
            context.mock.method(globalThis, 'fetch', async (/** @type {any} */ url, /** @type {any} */ options) => {
                if (!String(url).endsWith('/answers:batch')) return fetch(url, options)
                senders.push(vestibule.user?.id ?? '')
                resolve(undefined)
                return new Promise(resolve => { answer = resolve })
            })
        })
        const first = vestibule.user?.id
        await queue.put({ question: 'skinType', state: 'answered', value: 'dry' })
        const sending = queue.send()
        await sent
        const keys = store.keys.bind(store)
        /** @type {(keys: string[]) => void} */
        let go = () => {}
        store.keys = () => new Promise(resolve => { go = resolve })
        await signIn(vestibule, newPhone())
        // The store is still being asked what is to be forgotten.
        answer(Response.json({ status: 409, code: 'session_stopped' }, { status: 409 }))
        assert.equal((await sending).blocked, undefined)
        await queue.send()
        go(await keys('answers/'))
        await assert.rejects(queue.put({ question: 'gender', state: 'answered', value: 'female' }), VestibuleSignedOut)
        assert.deepEqual(senders, [first])
        assert.deepEqual(await keys('answers/'), [])
        vestibule.close()
    })

    test('another person does not get the answers of the one before', async () => {
        const store = new MemoryStore()
        const { vestibule } = await signedIn({ address, store })
        proxy.fate = request => request.endsWith('/answers:batch') ? 'before' : 'pass'
        const queue = vestibule.answers(await opened(vestibule))
        await queue.put({ question: 'skinType', state: 'answered', value: 'dry' })
        await queue.send()
        const forgotten = new Promise(resolve => {
            const change = store.change.bind(store)
            store.change = async (key, ...rest) => {
                const changed = await change(key, ...rest)
                if (key.startsWith('answers/') && changed === undefined) resolve(key)
                return changed
            }
        })
        const other = await signedIn({ address, store })
        await forgotten
        assert.deepEqual(await store.keys('answers/'), [])
        proxy.fate = () => 'pass'
        vestibule.close()
        other.vestibule.close()
    })
})

/**
 * Waits until the server has the answer to `skinType`.
 * @param {Vestibule} vestibule
 * @param {{ questionnaire: string, session: string }} of
 */
async function arrived(vestibule, of) {
    while (!(await stored(vestibule, of)).skinType) await new Promise(resolve => setTimeout(resolve, 20))
}

/**
 * The revisions that the person's page shows.
 * @param {Vestibule} vestibule
 * @param {{ questionnaire: string, session: string }} of
 */
async function view(vestibule, of) {
    const { answers } = await vestibule.getSession(of)
    return Object.fromEntries(answers.map(({ question, revision }) => [question, revision]))
}
