import { VestibuleOffline, VestibuleProblem, VestibuleUnreadable } from './errors.js'

// Until the first byte of an answer, and until the last.
const TIMEOUT_MS = 20_000

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
 */

/**
 * @typedef {object} HTTPAnswer
 * @property {number} status
 * @property {any} value Of the body; `undefined` without one.
 * @property {string} [eTag]
 * @property {number} [retryAfterSeconds]
 * @property {unknown} [unreadable] Why the body cannot be read.
 */

/** Sends single requests. */
export class HTTP {
    /** @param {string} address Where the server is, such as `https://api.example.org`. */
    constructor(address) {
        this.address = address.replace(/\/+$/, '')
        /** @type {string | undefined} */
        this.language = undefined
    }

    /**
     * @param {Request} request
     * @returns {Promise<HTTPAnswer>}
     * @throws {VestibuleOffline} Where no answer came.
     */
    async answer(request) {
        const { method, path, query = {}, headers = {}, body, token, withCookie, signal } = request
        signal?.throwIfAborted()
        const ending = new AbortController()
        const timer = setTimeout(() => ending.abort(), TIMEOUT_MS)
        const end = () => ending.abort()
        signal?.addEventListener('abort', end)
        const sent = new Headers()
        for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.set(name, value)
        if (this.language) sent.set('accept-language', this.language)
        if (token) sent.set('authorization', `Bearer ${token}`)
        if (body !== undefined) sent.set('content-type', 'application/json')
        try {
            const response = await fetch(this.address + path + text(query), {
                method, headers: sent, body: body === undefined ? undefined : JSON.stringify(body), signal: ending.signal,
                credentials: withCookie ? 'same-origin' : 'omit', cache: 'no-store', redirect: 'error',
            })
            return read(response, await response.text())
        } catch (error) {
            signal?.throwIfAborted()
            throw new VestibuleOffline(`${method} ${path.replace(/[0-9a-f-]{36}/gi, '…')} has no answer.`, error)
        } finally {
            clearTimeout(timer)
            signal?.removeEventListener('abort', end)
        }
    }
}

/** @param {Record<string, string | number | undefined>} query */
function text(query) {
    const given = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
    return `${given}` && `?${given}`
}

/**
 * @param {Response} response
 * @param {string} body
 * @returns {HTTPAnswer}
 */
function read(response, body) {
    const retryAfter = Number(response.headers.get('retry-after') ?? NaN)
    /** @type {HTTPAnswer} */
    const answer = {
        status: response.status, value: undefined, eTag: response.headers.get('etag') ?? undefined,
        retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
    }
    try {
        if (body !== '') answer.value = JSON.parse(body)
    } catch (error) {
        answer.unreadable = error
    }
    return answer
}

/**
 * The error that an answer is; `undefined` where the call was done.
 * @param {HTTPAnswer} answer
 */
export function refusal(answer) {
    const { status, value, unreadable } = answer
    if (status >= 200 && status < 300) return unreadable === undefined ? undefined : new VestibuleUnreadable(status, unreadable)
    return typeof value?.code === 'string' ? new VestibuleProblem(value) : new VestibuleUnreadable(status, unreadable)
}

/**
 * What the decisions read of an answer.
 * @param {HTTPAnswer} answer
 * @returns {import('./calls').Outcome}
 */
export function outcome({ status, value, retryAfterSeconds }) {
    return { status, code: value?.code, retryAfterSeconds: value?.retryAfterSeconds ?? retryAfterSeconds }
}
