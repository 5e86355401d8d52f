export * from "./errors.js";
export { Resend } from "./resend.js";
export { AnswerQueue } from "./answers.js";
/** @typedef {import('./calls.js').Call} Call */
/** @typedef {import('./calls.js').Store} Store */
/**
 * A client of the public API. It has a method for each operation, and each takes its members in one object.
 */
export class Vestibule extends Operations {
    /**
     * @param {object} options
     * @param {string} [options.address] Where the API is; the page's own origin by default.
     * @param {string} [options.appKey] The publishable key of the app; without it, the default app.
     * @param {string} [options.language] Of what people read, as `Accept-Language` has it. It can be changed later.
     * @param {'cookie' | 'tokens'} options.session Where the session lies: in a cookie that no script can read, for pages of the
     *     API's own origin; or in a store.
     * @param {Store} [options.store] Keeps the tokens and the answers. Without it, tokens are kept as long as the page lives, and
     *     answers in the browser where it can.
     */
    constructor({ address, appKey, language, session, store }: {
        address?: string | undefined;
        appKey?: string | undefined;
        language?: string | undefined;
        session: 'cookie' | 'tokens';
        store?: import("./calls.js").Store | undefined;
    });
    set language(arg: string | undefined);
    /** Of what people read, as `Accept-Language` has it. */
    get language(): string | undefined;
    /** The person who is signed in; `undefined` where nobody is. Known after `start`. */
    get user(): import("./generated/models.js").SessionUser | undefined;
    /** The session, as `listSessions` has it; `undefined` where nobody is signed in. */
    get sessionId(): string | undefined;
    /**
     * Reads who is signed in on this device, and begins to send their answers that wait here. It needs no network.
     * @returns {Promise<'signedIn' | 'signedOut'>}
     */
    start(): Promise<'signedIn' | 'signedOut'>;
    /**
     * Calls the listener whenever somebody has signed in or out, in this tab or another.
     * @param {(state: import('./session.js').SessionState) => void} listener
     * @returns {() => void} Ends it.
     */
    onSession(listener: (state: import('./session.js').SessionState) => void): () => void;
    /**
     * Signs out on this device, removes answers that were not sent, and signs out at the server.
     * @returns {Promise<boolean>} Whether the server was told. Without a network it is told later, if the session has a cookie.
     */
    signOut(): Promise<boolean>;
    /**
     * Signs out, and forgets the device, too: after `deleteAccount` nothing about the person stays here.
     * @returns {Promise<boolean>} As `signOut`.
     */
    forget(): Promise<boolean>;
    /**
     * The queue of answers of one session of a questionnaire. The same session has the same queue.
     * @param {{ questionnaire: string, session: string }} of
     * @returns {AnswerQueue}
     */
    answers({ questionnaire, session }: {
        questionnaire: string;
        session: string;
    }): AnswerQueue;
    /**
     * The queues of the person who is signed in: those that the app has asked for, and those of which something is kept here.
     * @returns {Promise<AnswerQueue[]>}
     */
    queues(): Promise<AnswerQueue[]>;
    /**
     * Sends a picture to the address that `createUpload` or `addCapture` has answered. An address serves one attempt: at any
     * error, ask for a new one.
     * @param {string} uploadUrl
     * @param {Blob} picture Of the content type and length that were announced.
     * @param {{ signal?: AbortSignal }} options
     */
    upload(uploadUrl: string, picture: Blob, { signal }?: {
        signal?: AbortSignal;
    }): Promise<void>;
    /** Ends what the client does by itself, as before another one takes its place. */
    close(): void;
    #private;
}
export type Call = import('./calls.js').Call;
export type Store = import('./calls.js').Store;
import { Operations } from "./generated/operations.js";
import { AnswerQueue } from "./answers.js";
export { IndexedDBStore, MemoryStore } from "./stores.js";
