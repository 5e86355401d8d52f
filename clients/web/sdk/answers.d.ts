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
    /**
     * @param {object} parts
     * @param {string} parts.key Its name in the store.
     * @param {string} parts.questionnaire The key of the questionnaire, which is kept with it.
     * @param {import('./calls.js').Store} parts.store
     * @param {import('./tabs.js').Tabs} parts.tabs
     * @param {(writes: import('./calls.js').Write[]) => Promise<AnswersSaved>} parts.send
     */
    constructor({ key, questionnaire, store, tabs, send }: {
        key: string;
        questionnaire: string;
        store: import('./calls.js').Store;
        tabs: import('./tabs.js').Tabs;
        send: (writes: import('./calls.js').Write[]) => Promise<AnswersSaved>;
    });
    /** What waits, and what the person has to decide. It is known after `load`. */
    get state(): QueueState;
    /**
     * Calls the listener after each change, in this tab or another.
     * @param {(state: QueueState) => void} listener
     * @returns {() => void} Ends it.
     */
    onChange(listener: (state: QueueState) => void): () => void;
    /** Reads what waits on the device, for the app to show: later answers of this tab have seen it. */
    load(): Promise<QueueState>;
    /**
     * Saves a write on the device, and sends it as soon as there is a network. The app goes on when this is done.
     * @param {import('./calls.js').NewWrite} write Its `baseRevision` is the revision of the answer that the person saw; without one
     *     it is the last that this tab wrote, or 0.
     * @returns {Promise<string>} Its mutation id.
     */
    put(write: import('./calls.js').NewWrite): Promise<string>;
    /**
     * Sends what waits, and ends when nothing does, or when it cannot be sent now: `state` says why.
     * @returns {Promise<QueueState>}
     */
    send(): Promise<QueueState>;
    /**
     * Of a conflict, the answer of this device stays.
     * @param {import('./calls.js').Conflict} conflict
     */
    keepMine({ mine }: import('./calls.js').Conflict): Promise<void>;
    /**
     * Of a conflict, the answer of the other device stays.
     * @param {import('./calls.js').Conflict} conflict
     */
    keepTheirs({ mine, theirs }: import('./calls.js').Conflict): Promise<void>;
    /** Sends again what `blocked` held back, as after the session was moved to the newest version. */
    unblock(): Promise<void>;
    /** Drops everything, as of a session that was stopped. */
    clear(): Promise<void>;
    /** Ends the queue, with nothing in it any more: the client takes what waits from the device. */
    forget(): void;
    /** Ends what the queue does by itself. What waits stays on the device. */
    close(): void;
    #private;
}
export type Queue = import('./calls.js').Queue;
export type AnswersSaved = import('./generated/models.js').AnswersSaved;
/**
 * What an app shows of a queue.
 */
export type QueueState = {
    /**
     * What waits to be sent, in order.
     */
    writes: import('./calls.js').Write[];
    /**
     * Answers of which the person chooses one.
     */
    conflicts: import('./calls.js').Conflict[];
    /**
     * Answers that the person has to give again.
     */
    refused: import('./calls.js').Refusal[];
    /**
     * Why nothing is sent.
     */
    blocked?: "not_found" | "session_stopped" | "version_closed" | undefined;
    /**
     * Why the last attempt failed; the queue goes on by itself.
     */
    error?: VestibuleError | undefined;
    /**
     * What the server said last: where to go on, and what became visible.
     */
    saved?: import("./generated/models.js").AnswersSaved | undefined;
};
import { VestibuleError } from "./errors.js";
