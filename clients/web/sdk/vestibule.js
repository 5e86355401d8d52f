import { AnswerQueue } from './answers.js'
import { afterUnauthorized } from './decisions.js'
import { VestibuleProblem, VestibuleSignedOut } from './errors.js'
import { Operations } from './generated/operations.js'
import { HTTP } from './http.js'
import { newId } from './ids.js'
import { repeated } from './repeat.js'
import { Session } from './session.js'
import { guarded, IndexedDBStore, MemoryStore } from './stores.js'
import { Tabs } from './tabs.js'

export * from './errors.js'
export { IndexedDBStore, MemoryStore } from './stores.js'
export { Resend } from './resend.js'
export { AnswerQueue } from './answers.js'

/** @typedef {import('./calls.js').Call} Call */
/** @typedef {import('./calls.js').Store} Store */

/**
 * A client of the public API. It has a method for each operation, and each takes its members in one object.
 */
export class Vestibule extends Operations {
    #http
    #session
    #tabs
    #answerStore
    #appKey
    /** @type {Map<string, AnswerQueue>} */
    #queues = new Map()

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
    constructor({ address = globalThis.location?.origin, appKey, language, session, store }) {
        super()
        if (!address) throw new TypeError('The client needs the address of the API.')
        this.#http = new HTTP(address)
        this.#http.language = language
        this.#appKey = appKey
        const usesCookie = session === 'cookie'
        const name = `vestibule ${this.#http.address}`
        const lasting = guarded(store ?? (typeof indexedDB === 'undefined' ? new MemoryStore() : new IndexedDBStore(name)))
        this.#answerStore = lasting
        this.#tabs = new Tabs(name)
        this.#session = new Session({
            http: this.#http, tabs: this.#tabs, usesCookie,
            store: usesCookie || store ? lasting : new MemoryStore(),
        })
        this.#session.onChange(({ user }) => {
            if (!user) return
            this.#forgetAnswers(key => !key.startsWith(prefix(user.id))).then(() => this.queues()).catch(() => {})
            // Those of others are closed by now.
            this.#queues.forEach(queue => queue.send())
        })
    }

    /** Of what people read, as `Accept-Language` has it. */
    get language() {
        return this.#http.language
    }

    set language(language) {
        this.#http.language = language
    }

    /** The person who is signed in; `undefined` where nobody is. Known after `start`. */
    get user() {
        return this.#session.user
    }

    /** The session, as `listSessions` has it; `undefined` where nobody is signed in. */
    get sessionId() {
        return this.#session.sessionId
    }

    /**
     * Reads who is signed in on this device, and begins to send their answers that wait here. It needs no network.
     * @returns {Promise<'signedIn' | 'signedOut'>}
     */
    async start() {
        await this.#session.start()
        this.queues().catch(() => {})
        return this.user ? 'signedIn' : 'signedOut'
    }

    /**
     * Calls the listener whenever somebody has signed in or out, in this tab or another.
     * @param {(state: import('./session.js').SessionState) => void} listener
     * @returns {() => void} Ends it.
     */
    onSession(listener) {
        return this.#session.onChange(listener)
    }

    /**
     * Signs out on this device, removes answers that were not sent, and signs out at the server.
     * @returns {Promise<boolean>} Whether the server was told. Without a network it is told later, if the session has a cookie.
     */
    signOut() {
        return this.#leave(false)
    }

    /**
     * Signs out, and forgets the device, too: after `deleteAccount` nothing about the person stays here.
     * @returns {Promise<boolean>} As `signOut`.
     */
    forget() {
        return this.#leave(true)
    }

    /** @param {boolean} withDevice */
    async #leave(withDevice) {
        const { isTold } = await this.#session.signOut(withDevice)
        // The network may take its time; what lies here does not wait for it.
        await this.#forgetAnswers(() => true)
        return isTold
    }

    /**
     * The queue of answers of one session of a questionnaire. The same session has the same queue.
     * @param {{ questionnaire: string, session: string }} of
     * @returns {AnswerQueue}
     */
    answers({ questionnaire, session }) {
        if (!this.user) throw new VestibuleSignedOut('Nobody is signed in.')
        const { id: person } = this.user
        const key = `${prefix(person)}${session}`
        const known = this.#queues.get(key)
        if (known) return known
        const queue = new AnswerQueue({
            key, questionnaire, store: this.#answerStore, tabs: this.#tabs,
            // The queue repeats by itself, and lets other tabs in before.
            send: async answers => {
                if (this.user?.id !== person) throw new VestibuleSignedOut(LEFT)
                return this.putAnswers({ questionnaire, session, body: { answers }, attempts: 1 })
            },
        })
        this.#queues.set(key, queue)
        return queue
    }

    /**
     * The queues of the person who is signed in: those that the app has asked for, and those of which something is kept here.
     * @returns {Promise<AnswerQueue[]>}
     */
    async queues() {
        const person = this.user?.id
        if (!person) return []
        for (const key of await this.#answerStore.keys(prefix(person))) {
            const { questionnaire } = await this.#answerStore.read(key) ?? {}
            if (this.user?.id !== person) return []
            if (questionnaire) this.answers({ questionnaire, session: key.slice(prefix(person).length) })
        }
        return [...this.#queues.values()]
    }

    /**
     * Sends a picture to the address that `createUpload` or `addCapture` has answered. An address serves one attempt: at any
     * error, ask for a new one.
     * @param {string} uploadUrl
     * @param {Blob} picture Of the content type and length that were announced.
     * @param {{ signal?: AbortSignal }} options
     */
    upload(uploadUrl, picture, { signal } = {}) {
        return this.#http.upload(uploadUrl, picture, signal)
    }

    /** Ends what the client does by itself, as before another one takes its place. */
    close() {
        this.#tabs.close()
        this.#session.close()
        this.#queues.forEach(queue => queue.close())
    }

    /**
     * Sends one call, again where it may be repeated. The methods of the operations use it.
     * @override
     * @param {Call} call
     * @returns {Promise<any>}
     */
    async send(call) {
        await this.#session.start()
        const person = this.user?.id
        const request = this.#request(call)
        const repetition = {
            method: call.method, isKeyed: call.keyed, hasIfMatch: call.headers?.['if-match'] !== undefined,
            attempts: call.attempts, signal: call.signal,
        }
        /** @type {string | undefined} */
        let refused
        for (;;) {
            const token = call.access === 'recoveryToken' ? call.token : await this.#token(call, refused)
            const attempt = async () => {
                // Nobody acts for the person who signed in meanwhile.
                if (token && call.access !== 'recoveryToken' && this.user?.id !== person) throw new VestibuleSignedOut(LEFT)
                return this.#http.done({ ...request, token })
            }
            try {
                return await this.#reply(call, await repeated(repetition, attempt))
            } catch (error) {
                const isOfToken = error instanceof VestibuleProblem && error.status === 401 && call.access !== 'recoveryToken'
                if (!isOfToken || !token) throw error
                const { code } = error
                const isCurrent = this.#session.isCurrent(token)
                const next = afterUnauthorized({ code, isCurrent, isRenewed: refused !== undefined })
                if (next === 'signedOut') await this.#session.ended(token, code)
                if (next === 'signedOut' || next === 'none') throw error
                refused = token
            }
        }
    }

    /**
     * @param {Call} call
     * @returns {import('./http.js').Request}
     */
    #request({ method, path, query, headers, body, app, keyed, signal, idempotencyKey, knowsDevice }) {
        const given = this.#appKey && app ? { app: this.#appKey } : {}
        return {
            method, path, signal,
            query: app === 'query' ? { ...given, ...withoutMissing(query ?? {}) } : query,
            headers: keyed ? { ...headers, 'idempotency-key': idempotencyKey ?? newId() } : headers,
            body: body && { ...(app === 'body' ? given : {}), ...(knowsDevice ? this.#withDevice(body) : body) },
        }
    }

    /**
     * A known device proves itself, unless the app names another one.
     * @param {Record<string, any>} body
     */
    #withDevice(body) {
        const { device } = this.#session
        return device && !body.device?.id ? { ...body, device: { ...device, ...body.device } } : body
    }

    /**
     * @param {Call} call
     * @param {string | undefined} refused
     */
    async #token({ access }, refused) {
        if (access === 'open') return undefined
        try {
            return await this.#session.token(refused)
        } catch (error) {
            if (access === 'sessionIfAny' && error instanceof VestibuleSignedOut) return undefined
            throw error
        }
    }

    /**
     * @param {Call} call
     * @param {import('./http.js').HTTPAnswer} answer
     */
    async #reply({ signsIn, versioned }, { value, eTag }) {
        if (signsIn && value?.accessToken) {
            await this.#session.signedIn(value)
            // The tokens are the session's alone.
            const { accessToken, refreshToken, deviceSecret, ...session } = value
            return session
        }
        return versioned ? { value, eTag } : value
    }

    /** @param {(key: string) => boolean} isForgotten */
    async #forgetAnswers(isForgotten) {
        for (const [key, queue] of this.#queues) {
            if (!isForgotten(key)) continue
            queue.forget()
            this.#queues.delete(key)
        }
        for (const key of await this.#answerStore.keys(PREFIX)) {
            if (!isForgotten(key)) continue
            await this.#answerStore.change(key, () => undefined)
            // Other tabs show what waits, too.
            this.#tabs.say({ about: key })
        }
    }
}

const PREFIX = 'answers/'
const LEFT = 'The person of the call has signed out.'

/** @param {string} person */
function prefix(person) {
    return `${PREFIX}${person}/`
}

/** @param {Record<string, any>} values */
function withoutMissing(values) {
    return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
