import { afterBatch, afterChoice, emptyQueue, nextBatch, place, queueWaitMs, withWrite } from './decisions.js'
import { VestibuleError, VestibuleProblem, VestibuleSignedOut, VestibuleUnreadable } from './errors.js'
import { newId } from './ids.js'
import { outcomeOf } from './repeat.js'

/** @typedef {import('./calls.js').Queue} Queue */
/** @typedef {import('./generated/models.js').AnswersSaved} AnswersSaved */

/**
 * What an app shows of a queue.
 * @typedef {object} QueueState
 * @property {import('./calls.js').Write[]} writes What waits to be sent, in order.
 * @property {import('./calls.js').Conflict[]} conflicts Answers of which the person chooses one.
 * @property {import('./calls.js').Refusal[]} refused Answers that the person has to give again.
 * @property {'version_closed' | 'session_stopped' | 'not_found'} [blocked] Why nothing is sent.
 * @property {VestibuleError} [error] Why the last attempt failed; the queue goes on by itself.
 * @property {AnswersSaved} [saved] What the server said last: where to go on, and what became visible.
 */

/**
 * The answers of one session of a questionnaire, in order. Each is saved on the device before it is sent, and is sent until the
 * server has answered, also by another tab or when the app is opened again.
 */
export class AnswerQueue {
    #key
    #questionnaire
    #store
    #tabs
    #send
    /** @type {Queue} */
    #queue = emptyQueue()
    /** @type {VestibuleError | undefined} */
    #error
    /** @type {AnswersSaved | undefined} */
    #saved
    /** @type {Map<string, number>} Revisions that this tab wrote. */
    #revisions = new Map()
    /** @type {Set<string>} Writes that this tab made or read, so that the person has seen them. */
    #seen = new Set()
    /** @type {Promise<void> | undefined} */
    #sending
    #isWanted = false
    #failures = 0
    #isClosed = false
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer
    /** @type {Set<(state: QueueState) => void>} */
    #listeners = new Set()
    #ends

    /**
     * @param {object} parts
     * @param {string} parts.key Its name in the store.
     * @param {string} parts.questionnaire The key of the questionnaire, which is kept with it.
     * @param {import('./calls.js').Store} parts.store
     * @param {import('./tabs.js').Tabs} parts.tabs
     * @param {(writes: import('./calls.js').Write[]) => Promise<AnswersSaved>} parts.send
     */
    constructor({ key, questionnaire, store, tabs, send }) {
        this.#key = key
        this.#questionnaire = questionnaire
        this.#store = store
        this.#tabs = tabs
        this.#send = send
        const online = () => this.#later(0)
        globalThis.addEventListener?.('online', online)
        const unheard = tabs.hear(message => this.#heard(message))
        this.#ends = () => {
            globalThis.removeEventListener?.('online', online)
            unheard()
        }
        this.#refresh().then(() => this.#later(0), () => {})
    }

    /** What waits, and what the person has to decide. It is known after `load`. */
    get state() {
        /** @type {QueueState} */
        const state = { ...this.#queue, error: this.#error, saved: this.#saved }
        return state
    }

    /**
     * Calls the listener after each change, in this tab or another.
     * @param {(state: QueueState) => void} listener
     * @returns {() => void} Ends it.
     */
    onChange(listener) {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
    }

    /** Reads what waits on the device, for the app to show: later answers of this tab have seen it. */
    async load() {
        await this.#refresh()
        this.#queue.writes.forEach(write => this.#seen.add(write.mutationId))
        return this.state
    }

    /**
     * Saves a write on the device, and sends it as soon as there is a network. The app goes on when this is done.
     * @param {import('./calls.js').NewWrite} write Its `baseRevision` is the revision of the answer that the person saw; without one
     *     it is the last that this tab wrote, or 0.
     * @returns {Promise<string>} Its mutation id.
     */
    async put(write) {
        const mutationId = write.mutationId ?? newId()
        const baseRevision = Math.max(write.baseRevision ?? 0, this.#revisions.get(place(write)) ?? 0)
        this.#seen.add(mutationId)
        await this.#edit(queue => withWrite(queue, { ...write, mutationId, baseRevision }))
        this.#later(0)
        return mutationId
    }

    /**
     * Sends what waits, and ends when nothing does, or when it cannot be sent now: `state` says why.
     * @returns {Promise<QueueState>}
     */
    async send() {
        this.#isWanted = true
        this.#sending ??= this.#sendAll().finally(() => { this.#sending = undefined })
        await this.#sending
        return this.state
    }

    /**
     * Of a conflict, the answer of this device stays.
     * @param {import('./calls.js').Conflict} conflict
     */
    async keepMine({ mine }) {
        const mutationId = newId()
        this.#seen.add(mutationId)
        await this.#edit(queue => afterChoice(queue, mine.mutationId, { keep: 'mine', mutationId }))
        this.#later(0)
    }

    /**
     * Of a conflict, the answer of the other device stays.
     * @param {import('./calls.js').Conflict} conflict
     */
    async keepTheirs({ mine, theirs }) {
        await this.#edit(queue => afterChoice(queue, mine.mutationId, { keep: 'theirs' }))
        this.#revisions.set(place(mine), theirs.revision)
    }

    /** Sends again what `blocked` held back, as after the session was moved to the newest version. */
    async unblock() {
        await this.#edit(({ blocked, ...queue }) => queue)
        this.#later(0)
    }

    /** Drops everything, as of a session that was stopped. */
    async clear() {
        await this.#edit(() => undefined)
    }

    /** Ends the queue, with nothing in it any more: the client takes what waits from the device. */
    forget() {
        this.#queue = emptyQueue()
        this.#error = undefined
        this.#tell()
        this.close()
    }

    /** Ends what the queue does by itself. What waits stays on the device. */
    close() {
        this.#isClosed = true
        clearTimeout(this.#timer)
        this.#ends()
    }

    async #sendAll() {
        /** @type {VestibuleError | undefined} */
        let failed
        try {
            // Whatever was put after the last look is still to be sent.
            while (this.#isWanted) {
                this.#isWanted = false
                // Listeners run between two requests, when no other tab waits for this one.
                while (await this.#tabs.locked(this.#key, () => this.#sendBatch())) this.#tell()
            }
        } catch (error) {
            if (!(error instanceof VestibuleError)) throw error
            failed = error
        }
        this.#error = failed
        this.#failures = failed ? this.#failures + 1 : 0
        this.#tell()
        if (failed) {
            const retryAfterSeconds = outcomeOf(failed)?.retryAfterSeconds
            this.#later(queueWaitMs({ failures: this.#failures, retryAfterSeconds, random: Math.random() }))
        }
    }

    /** @returns {Promise<boolean>} Whether there may be more. */
    async #sendBatch() {
        // Another tab may have sent it meanwhile.
        await this.#read()
        const batch = nextBatch(this.#queue)
        if (batch.length === 0 || this.#isClosed) return false
        const sent = batch.map(write => write.mutationId)
        /** @type {AnswersSaved} */
        let saved
        try {
            saved = await this.#send(batch)
        } catch (error) {
            const outcome = outcomeOf(error)
            // What cannot be read says nothing about the writes.
            if (!outcome || outcome.status === 200) throw error
            const detail = error instanceof VestibuleProblem ? error.detail : undefined
            const after = (/** @type {Queue} */ queue) => afterBatch(queue, sent, { ...outcome, detail })
            if (JSON.stringify(after(this.#queue)) === JSON.stringify(this.#queue)) throw error
            await this.#change(after)
            return true
        }
        // Somebody between may have answered; at once the next answer would be the same.
        if (!saved?.results?.some?.(each => each?.mutationId === sent[0])) throw new VestibuleUnreadable(200)
        this.#learn(saved.results)
        this.#saved = saved
        await this.#change(queue => afterBatch(queue, sent, { status: 200, results: saved.results }), saved)
        return true
    }

    /**
     * A later answer to the same question has seen these.
     * @param {AnswersSaved['results']} results
     */
    #learn(results) {
        for (const { mutationId, revision, ...answer } of results) {
            if (this.#seen.has(mutationId) && revision) this.#revisions.set(place(answer), revision)
        }
    }

    async #refresh() {
        await this.#read()
        this.#tell()
    }

    async #read() {
        this.#queue = await this.#store.read(this.#key) ?? emptyQueue()
    }

    /**
     * @param {(queue: Queue) => Queue | undefined} change
     * @param {AnswersSaved} [saved]
     */
    async #change(change, saved) {
        let isDropped = false
        this.#queue = await this.#store.change(this.#key, queue => {
            // What was forgotten at a sign-out does not come back.
            isDropped = this.#isClosed
            if (isDropped) return queue
            const changed = change(queue ?? emptyQueue())
            return changed && !isEmpty(changed) ? { ...changed, questionnaire: this.#questionnaire } : undefined
        }) ?? emptyQueue()
        if (isDropped) throw new VestibuleSignedOut('The person of this queue has signed out.')
        this.#tabs.say({ about: this.#key, saved })
    }

    /**
     * What the app or the person changed.
     * @param {(queue: Queue) => Queue | undefined} change
     */
    async #edit(change) {
        await this.#change(change)
        this.#tell()
    }

    /** @param {number} ms */
    #later(ms) {
        clearTimeout(this.#timer)
        if (this.#isClosed) return
        this.#timer = setTimeout(() => this.send().catch(() => {}), ms)
    }

    /** @param {any} message */
    #heard(message) {
        if (message.about !== this.#key) return
        if (message.saved) {
            this.#saved = message.saved
            this.#learn(message.saved.results)
        }
        this.#refresh().catch(() => {})
    }

    #tell() {
        // What was forgotten at a sign-out does not come back.
        if (this.#isClosed) return
        const { state } = this
        for (const listener of this.#listeners) queueMicrotask(() => listener(state))
    }
}

/** @param {Queue} queue */
function isEmpty({ writes, conflicts, refused, blocked }) {
    return writes.length + conflicts.length + refused.length === 0 && !blocked
}
