import { secondsLeft } from './decisions.js'

/** Counts the seconds until something may be asked for again, such as another code. */
export class Resend {
    #seconds
    #sinceMs = performance.now()
    /** @type {Set<ReturnType<typeof setInterval>>} */
    #timers = new Set()

    /** @param {number} seconds `resendAfterSeconds` of a reply, or `retryAfterSeconds` of a problem. */
    constructor(seconds) {
        this.#seconds = seconds
    }

    /** Whole seconds that are left; 0 when it may be asked for. */
    get secondsLeft() {
        return secondsLeft({ seconds: this.#seconds, sinceMs: this.#sinceMs, nowMs: performance.now() })
    }

    /**
     * Calls the listener now and each second until none is left.
     * @param {(secondsLeft: number) => void} listener
     */
    onTick(listener) {
        /** @type {ReturnType<typeof setInterval> | undefined} */
        let timer
        const tick = () => {
            const left = this.secondsLeft
            if (left === 0 && timer !== undefined) this.#stop(timer)
            listener(left)
        }
        if (this.secondsLeft > 0) {
            timer = setInterval(tick, 1000)
            this.#timers.add(timer)
        }
        tick()
    }

    /** Ends all ticks. */
    stop() {
        this.#timers.forEach(timer => this.#stop(timer))
    }

    /** @param {ReturnType<typeof setInterval>} timer */
    #stop(timer) {
        clearInterval(timer)
        this.#timers.delete(timer)
    }
}
