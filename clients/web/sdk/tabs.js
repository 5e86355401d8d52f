// How long one tab waits for another, which may hang. Whoever waited for it in vain waits in a second line, so that they at least
// wait for each other: a refresh token must not be used twice. Then it goes on without: a lock must never stop an app.
const LINES_MS = [4_000, 1_000]

/** How long a request may take under a lock, in milliseconds: it ends before another tab goes on without. */
export const HELD_MS = 3_500

/** What the tabs of one origin have in common. Where the platform has no other tabs, it is one alone. */
export class Tabs {
    #name
    /** @type {BroadcastChannel | undefined} */
    #channel
    /** @type {Set<(message: any) => void>} */
    #listeners = new Set()

    /** @param {string} name Tabs of the same name belong together. */
    constructor(name) {
        this.#name = name
        if (typeof window === 'undefined' || typeof BroadcastChannel === 'undefined') return
        this.#channel = new BroadcastChannel(name)
        this.#channel.onmessage = event => this.#listeners.forEach(listener => listener(event.data))
    }

    /**
     * Carries out work while no other tab does any of the same name. It waits five seconds at most.
     * @template Result
     * @param {string} name
     * @param {() => Promise<Result>} work
     * @returns {Promise<Result>}
     */
    async locked(name, work) {
        const locks = globalThis.navigator?.locks
        if (!locks) return work()
        for (const [line, ms] of LINES_MS.entries()) {
            const waiting = new AbortController()
            const timer = setTimeout(() => waiting.abort(), ms)
            try {
                return await locks.request(`${this.#name} ${name} ${line}`, { signal: waiting.signal }, () => {
                    clearTimeout(timer)
                    return work()
                })
            } catch (error) {
                if (!waiting.signal.aborted) throw error
            } finally {
                clearTimeout(timer)
            }
        }
        return work()
    }

    /**
     * Tells all other tabs.
     * @param {unknown} message
     */
    say(message) {
        this.#channel?.postMessage(message)
    }

    /**
     * @param {(message: any) => void} listener
     * @returns {() => void} Ends it.
     */
    hear(listener) {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
    }

    /** Ends the connection to the other tabs. */
    close() {
        this.#channel?.close()
    }
}
