import assert from 'node:assert/strict'
import { test } from 'node:test'

import { HELD_MS } from '../tabs.js'
import { MemoryStore, Vestibule } from '../vestibule.js'

for (const hanging of ['answer', 'body']) {
    test(`a renewal whose ${hanging} does not come ends before other tabs go on without the lock`, async context => {
        const store = new MemoryStore()
        const kept = { generation: 1, sessionId: 's', deviceId: 'd', user: { id: 'p' }, endsAtMs: 0 }
        await store.change('session', () => kept)
        context.mock.timers.enable({ apis: ['setTimeout'] })
        let [ms, renewals, endedAfterMs] = [0, 0, 0]
        context.mock.method(globalThis, 'fetch', async (/** @type {any} */ url, /** @type {any} */ { signal }) => {
            if (!url.endsWith('/auth/web-session')) return Response.json({ id: 'p' })
            renewals += 1
            if (renewals > 1) return Response.json({ ...kept, accessToken: 'a', expiresInSeconds: 900 })
            const never = () => new Promise((_, reject) => signal.addEventListener('abort', () => {
                endedAfterMs = ms
                reject(signal.reason)
            }))
            return hanging === 'answer' ? never() : { ok: true, status: 200, headers: new Headers(), text: never }
        })
        const call = new Vestibule({ address: 'http://nobody.invalid', session: 'cookie', store }).getMe()
        let isDone = false
        call.finally(() => { isDone = true })
        for (; !isDone; ms += 100) {
            context.mock.timers.tick(100)
            await new Promise(resolve => setImmediate(resolve))
        }
        assert.equal((await call).value.id, 'p')
        assert.ok(endedAfterMs > 0 && endedAfterMs <= HELD_MS, `${endedAfterMs} ms`)
    })
}
