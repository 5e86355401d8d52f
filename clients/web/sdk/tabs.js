// How long one tab waits for another. Then it goes on without: a lock must never stop an app.
const LOCK_MS = 5_000

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
     * Carries out work while no other tab does any of the same name. After five seconds it does not wait any longer.
     * @template Result
     * @param {string} name
     * @param {() => Promise<Result>} work
     * @returns {Promise<Result>}
     */
    async locked(name, work) {
        const locks = globalThis.navigator?.locks
        if (!locks) return work()
        const waiting = new AbortController()
        const timer = setTimeout(() => waiting.abort(), LOCK_MS)
        try {
            return await locks.request(`${this.#name} ${name}`, { signal: waiting.signal }, () => {
                clearTimeout(timer)
                return work()
            })
        } catch (error) {
            if (!waiting.signal.aborted) throw error
            return work()
        } finally {
            clearTimeout(timer)
        }
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
