import { VestibuleNotModified, VestibuleOffline, VestibuleProblem, VestibuleUnreadable } from './errors.js'

// Until an answer begins, where a call is sent and where a picture is; and until it is there.
const ANSWER_MS = 20_000
const UPLOAD_MS = 300_000
const BODY_MS = 60_000

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
    constructor(address) {
        this.address = address.replace(/\/+$/, '')
        /** @type {string | undefined} */
        this.language = undefined
    }

    /**
     * Sends a request, and throws a `VestibuleError` where it was not done.
     * @param {Request} request
     * @returns {Promise<HTTPAnswer>}
     */
    done(request) {
        const { method, path, query = {}, headers = {}, body, token, withCookie, signal, limitMs } = request
        const sent = new Headers()
        for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.set(name, value)
        if (this.language) sent.set('accept-language', this.language)
        if (token) sent.set('authorization', `Bearer ${token}`)
        if (body !== undefined) sent.set('content-type', 'application/json')
        return answered(this.address + path + text(query), {
            method, headers: sent, body: body === undefined ? undefined : JSON.stringify(body),
            credentials: withCookie ? 'same-origin' : 'omit',
        }, limitMs ? { limitMs } : { answerMs: ANSWER_MS }, signal)
    }

    /**
     * Sends a picture to the address that a call has answered, once.
     * @param {string} address Or a path. It is a secret.
     * @param {Blob} picture
     * @param {AbortSignal} [signal]
     */
    async upload(address, picture, signal) {
        const url = address.startsWith('/') ? this.address + address : address
        const headers = { 'content-type': picture.type }
        await answered(url, { method: 'PUT', headers, body: picture, credentials: 'omit' }, { answerMs: UPLOAD_MS }, signal)
    }
}

/**
 * @param {string} url
 * @param {RequestInit} options
 * @param {{ answerMs?: number, limitMs?: number }} bounds Until the answer begins, or until all of it is there.
 * @param {AbortSignal} [signal]
 * @returns {Promise<HTTPAnswer>}
 */
async function answered(url, options, { answerMs, limitMs }, signal) {
    signal?.throwIfAborted()
    const ending = new AbortController()
    const end = () => ending.abort()
    let timer = setTimeout(end, limitMs ?? answerMs)
    signal?.addEventListener('abort', end)
    /** @type {Response} */
    let response
    /** @type {string} */
    let body
    try {
        response = await fetch(url, { ...options, signal: ending.signal, cache: 'no-store', redirect: 'error' })
        if (limitMs === undefined) {
            clearTimeout(timer)
            timer = setTimeout(end, BODY_MS)
        }
        body = await response.text()
    } catch (error) {
        signal?.throwIfAborted()
        // Neither a path nor a query, which may say whom the call is about.
        throw new VestibuleOffline(`A call by ${options.method} has no answer.`, error)
    } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
    }
    return read(response, body)
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
function read({ status, ok, headers }, body) {
    if (status === 304) throw new VestibuleNotModified('The value has not changed.')
    /** @type {any} */
    let value
    try {
        if (body !== '') value = JSON.parse(body)
    } catch (error) {
        throw new VestibuleUnreadable(status, retryAfter(headers), error)
    }
    if (ok) return { value, eTag: headers.get('etag') ?? undefined }
    throw typeof value?.code === 'string' ? new VestibuleProblem(value) : new VestibuleUnreadable(status, retryAfter(headers))
}

/** @param {Headers} headers */
function retryAfter(headers) {
    const seconds = Number(headers.get('retry-after') ?? NaN)
    return Number.isFinite(seconds) ? seconds : undefined
}
