/**
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path
 * @property {Record<string, string | number | undefined>} [query]
 * @property {Record<string, string | undefined>} [headers]
 * @property {unknown} [body]
 * @property {string} [token] Goes into `Authorization`.
 * @property {boolean} [withCookie] Whether the browser sends and keeps the cookie of the session.
 * @property {AbortSignal} [signal]
 * @property {number} [limitMs] Until the whole answer is there.
 */
/**
 * @typedef {object} HTTPAnswer
 * @property {any} value Of the body; `undefined` without one.
 * @property {string} [eTag]
 */
/** Sends single requests. */
export class HTTP {
    /** @param {string} address Where the server is, such as `https://api.example.org`. */
    constructor(address: string);
    address: string;
    /** @type {string | undefined} */
    language: string | undefined;
    /**
     * Sends a request, and throws a `VestibuleError` where it was not done.
     * @param {Request} request
     * @returns {Promise<HTTPAnswer>}
     */
    done(request: Request): Promise<HTTPAnswer>;
    /**
     * Sends a picture to the address that a call has answered, once.
     * @param {string} address Or a path. It is a secret.
     * @param {Blob} picture
     * @param {AbortSignal} [signal]
     */
    upload(address: string, picture: Blob, signal?: AbortSignal | undefined): Promise<void>;
}
export type Request = {
    method: string;
    path: string;
    query?: Record<string, string | number | undefined> | undefined;
    headers?: Record<string, string | undefined> | undefined;
    body?: unknown;
    /**
     * Goes into `Authorization`.
     */
    token?: string | undefined;
    /**
     * Whether the browser sends and keeps the cookie of the session.
     */
    withCookie?: boolean | undefined;
    signal?: AbortSignal | undefined;
    /**
     * Until the whole answer is there.
     */
    limitMs?: number | undefined;
};
export type HTTPAnswer = {
    /**
     * Of the body; `undefined` without one.
     */
    value: any;
    eTag?: string | undefined;
};
