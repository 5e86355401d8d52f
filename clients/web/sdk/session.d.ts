/**
 * What all tabs share. In the mode `cookie` there is neither a token nor a secret in it.
 * @typedef {object} Kept
 * @property {number} generation Raised by each renewal, sign-in and sign-out.
 * @property {Person} [user] Who is signed in.
 * @property {number} [endsAtMs] When the newest access token ends.
 * @property {string} [sessionId]
 * @property {string} [deviceId] Stays after a sign-out, so that the next sign-in is that of a known device.
 * @property {string} [deviceSecret]
 * @property {string} [accessToken]
 * @property {string} [refreshToken]
 * @property {boolean} [isEnding] The server could not be told of a sign-out yet.
 */
/** @typedef {import('./generated/models.js').SessionUser} Person */
/** @typedef {import('./generated/models.js').Session} SignedIn */
/**
 * What a listener is told. `reason` is `signIn`, `signOut`, or the code that ended the session.
 * @typedef {object} SessionState
 * @property {'signedIn' | 'signedOut'} state
 * @property {Person} [user]
 * @property {string} [reason]
 */
/** Whether somebody is signed in, and with which tokens. */
export class Session {
    /**
     * @param {object} parts
     * @param {import('./http.js').HTTP} parts.http
     * @param {import('./calls.js').Store} parts.store
     * @param {import('./tabs.js').Tabs} parts.tabs
     * @param {boolean} parts.usesCookie
     */
    constructor({ http, store, tabs, usesCookie }: {
        http: import('./http.js').HTTP;
        store: import('./calls.js').Store;
        tabs: import('./tabs.js').Tabs;
        usesCookie: boolean;
    });
    /** Ends what the session does by itself. */
    close(): void;
    /** The person who is signed in. */
    get user(): import("./generated/models.js").SessionUser | undefined;
    /** The session, as `GET /auth/sessions` lists it. */
    get sessionId(): string | undefined;
    /** What proves a known device at a sign-in; `undefined` where there is none. */
    get device(): {
        id: string;
        secret: string;
    } | undefined;
    /**
     * @param {(state: SessionState) => void} listener
     * @returns {() => void} Ends it.
     */
    onChange(listener: (state: SessionState) => void): () => void;
    /** Reads who is signed in. It needs no network. Each call waits for it, so an app need not. */
    start(): Promise<void>;
    /**
     * An access token that is good.
     * @param {string} [refused] A token that the server does not take any more.
     * @returns {Promise<string>}
     */
    token(refused?: string | undefined): Promise<string>;
    /** Renews the tokens, once for all that ask meanwhile, in this tab and in others. */
    renew(): Promise<void>;
    /**
     * Takes up a session that a sign-in answered. With a cookie, the person is signed in once the cookie has the session.
     * @param {SignedIn} session
     */
    signedIn(session: SignedIn): Promise<void>;
    /**
     * Signs out on this device, and begins to do so at the server.
     * @param {boolean} withDevice Whether the next sign-in is that of an unknown device.
     * @returns {Promise<{ isTold: Promise<boolean> }>} Whether the server knows; without a network it is told later, if the
     *     session has a cookie.
     */
    signOut(withDevice: boolean): Promise<{
        isTold: Promise<boolean>;
    }>;
    /**
     * A call was refused since the session of its token has ended.
     * @param {string} token
     * @param {string} reason The code of the answer.
     */
    ended(token: string, reason: string): Promise<void>;
    /**
     * Whether no newer token came meanwhile.
     * @param {string} token
     */
    isCurrent(token: string): boolean;
    #private;
}
/**
 * What all tabs share. In the mode `cookie` there is neither a token nor a secret in it.
 */
export type Kept = {
    /**
     * Raised by each renewal, sign-in and sign-out.
     */
    generation: number;
    /**
     * Who is signed in.
     */
    user?: import("./generated/models.js").SessionUser | undefined;
    /**
     * When the newest access token ends.
     */
    endsAtMs?: number | undefined;
    sessionId?: string | undefined;
    /**
     * Stays after a sign-out, so that the next sign-in is that of a known device.
     */
    deviceId?: string | undefined;
    deviceSecret?: string | undefined;
    accessToken?: string | undefined;
    refreshToken?: string | undefined;
    /**
     * The server could not be told of a sign-out yet.
     */
    isEnding?: boolean | undefined;
};
export type Person = import('./generated/models.js').SessionUser;
export type SignedIn = import('./generated/models.js').Session;
/**
 * What a listener is told. `reason` is `signIn`, `signOut`, or the code that ended the session.
 */
export type SessionState = {
    state: 'signedIn' | 'signedOut';
    user?: import("./generated/models.js").SessionUser | undefined;
    reason?: string | undefined;
};
