import { repetition } from './decisions.js'
import { VestibuleOffline, VestibuleProblem, VestibuleUnreadable } from './errors.js'

/**
 * Carries out an attempt, and again after a wait where it failed and may be repeated.
 * @template Result
 * @param {{ method: string, isKeyed?: boolean, hasIfMatch?: boolean, attempts?: number, signal?: AbortSignal }} call
 * @param {() => Promise<Result>} attempt
 * @returns {Promise<Result>}
 */
export async function repeated({ method, isKeyed, hasIfMatch, attempts = Infinity, signal }, attempt) {
    let waitedMs = 0
    for (let number = 1; ; number += 1) {
        try {
            return await attempt()
        } catch (error) {
            const outcome = outcomeOf(error)
            const isOnline = globalThis.navigator?.onLine ?? true
            const next = outcome && number < attempts && repetition({
                method, isKeyed, hasIfMatch, outcome, attempt: number, waitedMs, isOnline, random: Math.random() })
            if (!next || !next.repeat) throw error
            waitedMs += next.waitMs
            await wait(next.waitMs, signal)
        }
    }
}

/**
 * What came of a request, by its error; `undefined` where it is none of the network's or the server's.
 * @param {unknown} error
 * @returns {import('./calls.js').Outcome | undefined}
 */
export function outcomeOf(error) {
    if (error instanceof VestibuleOffline) return {}
    if (error instanceof VestibuleUnreadable) return { status: error.status, retryAfterSeconds: error.retryAfterSeconds }
    if (!(error instanceof VestibuleProblem)) return undefined
    const { status, code, retryAfterSeconds } = error
    return { status, code, retryAfterSeconds }
}

/**
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
function wait(ms, signal) {
    return new Promise((resolve, reject) => {
        const end = () => {
            clearTimeout(timer)
            reject(signal?.reason)
        }
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', end)
            resolve()
        }, ms)
        signal?.addEventListener('abort', end, { once: true })
    })
}
