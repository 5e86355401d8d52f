import { afterRenewal, beforeRenewal, tokenState } from './decisions.js'
import { VestibuleError, VestibuleSignedOut, VestibuleUnreadable } from './errors.js'
import { outcomeOf, repeated } from './repeat.js'
import { HELD_MS } from './tabs.js'

const KEY = 'session'
// How long a tab waits for the token that another one has just got.
const MESSAGE_MS = 1_000
const COOKIE = { path: '/auth/web-session', withCookie: true, limitMs: HELD_MS }

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
    #http
    #store
    #tabs
    #usesCookie
    /** @type {Kept} What this tab knows. */
    #known = { generation: 0 }
    /** @type {string | undefined} */
    #accessToken
    /** @type {Promise<void> | undefined} */
    #started
    /** @type {Promise<void> | undefined} */
    #renewal
    /** @type {Promise<void>} What the server is being told of a sign-out. */
    #ending = Promise.resolve()
    /** @type {Set<(state: SessionState) => void>} */
    #listeners = new Set()
    /** @type {Set<() => void>} */
    #waiting = new Set()
    /** @type {string | undefined} The person of whom the app was told last. */
    #told
    #online = () => this.#endIfLeft()

    /**
     * @param {object} parts
     * @param {import('./http.js').HTTP} parts.http
     * @param {import('./calls.js').Store} parts.store
     * @param {import('./tabs.js').Tabs} parts.tabs
     * @param {boolean} parts.usesCookie
     */
    constructor({ http, store, tabs, usesCookie }) {
        this.#http = http
        this.#store = store
        this.#tabs = tabs
        this.#usesCookie = usesCookie
        tabs.hear(message => this.#heard(message))
        globalThis.addEventListener?.('online', this.#online)
    }

    /** Ends what the session does by itself. */
    close() {
        globalThis.removeEventListener?.('online', this.#online)
    }

    /** The person who is signed in. */
    get user() {
        return this.#known.user
    }

    /** The session, as `GET /auth/sessions` lists it. */
    get sessionId() {
        return this.#known.user && this.#known.sessionId
    }

    /** What proves a known device at a sign-in; `undefined` where there is none. */
    get device() {
        const { deviceId: id, deviceSecret: secret } = this.#known
        return id && secret ? { id, secret } : undefined
    }

    /**
     * @param {(state: SessionState) => void} listener
     * @returns {() => void} Ends it.
     */
    onChange(listener) {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
    }

    /** Reads who is signed in. It needs no network. Each call waits for it, so an app need not. */
    start() {
        this.#started ??= this.#start().catch(error => {
            this.#started = undefined
            throw error
        })
        return this.#started
    }

    async #start() {
        this.#tabs.say({ about: 'ask' })
        await this.#look()
        this.#told = this.#known.user?.id
        this.#endIfLeft()
    }

    /**
     * An access token that is good.
     * @param {string} [refused] A token that the server does not take any more.
     * @returns {Promise<string>}
     */
    async token(refused) {
        await this.start()
        // Another tab may have signed in anew while this one renewed.
        for (const isLast of [false, true]) {
            if (!this.#known.user) break
            const state = this.#accessToken === refused ? 'over' : this.#tokenState()
            // Who waits for an answer does not wait for a renewal, too, as long as the token is good.
            if (state === 'soon') this.renew().catch(() => {})
            if (state !== 'over' || isLast) break
            await this.renew()
        }
        if (!this.#accessToken) throw new VestibuleSignedOut('Nobody is signed in.')
        return this.#accessToken
    }

    /** Renews the tokens, once for all that ask meanwhile, in this tab and in others. */
    renew() {
        this.#renewal ??= this.#renewOnce().finally(() => { this.#renewal = undefined })
        return this.#renewal
    }

    /**
     * Takes up a session that a sign-in answered. With a cookie, the person is signed in once the cookie has the session.
     * @param {SignedIn} session
     */
    async signedIn(session) {
        await this.start()
        const { refreshToken, ...rest } = this.#readable(session)
        const secret = session.deviceSecret ?? (session.deviceId === this.#known.deviceId ? this.#known.deviceSecret : undefined)
        const secrets = { refreshToken, deviceSecret: secret }
        if (this.#usesCookie) await this.#adopt(session, secrets)
        else await this.#tabs.locked(KEY, () => this.#keep(rest, secrets))
        this.#tell('signIn')
    }

    /**
     * Puts a new session into the cookie, in place of the one before.
     * @param {SignedIn} session
     * @param {{ refreshToken: string, deviceSecret?: string }} pair
     */
    async #adopt(session, pair) {
        try {
            // It would take the new cookie away.
            await this.#ending
            await repeated({ method: 'DELETE' }, () => this.#endCookie(true))
            await repeated({ method: 'POST', isKeyed: true }, () => this.#tabs.locked(KEY, async () => {
                const { value } = await this.#http.done({ ...COOKIE, method: 'POST', body: pair })
                await this.#keep(this.#readable(value), {})
            }))
        } catch (error) {
            // Nobody is signed in, as where the server gives no cookie, or there is no network for it.
            this.#logOut(session).catch(() => {})
            await this.#tabs.locked(KEY, () => this.#forget(true))
            this.#tellChange('signOut')
            this.#endIfLeft()
            throw error
        }
    }

    /**
     * Signs out on this device, and begins to do so at the server.
     * @param {boolean} withDevice Whether the next sign-in is that of an unknown device.
     * @returns {Promise<{ isTold: Promise<boolean> }>} Whether the server knows; without a network it is told later, if the
     *     session has a cookie.
     */
    async signOut(withDevice) {
        await this.start()
        const ended = await this.#tabs.locked(KEY, async () => {
            const kept = await this.#read()
            await this.#forget(this.#usesCookie, undefined, withDevice)
            return kept
        })
        this.#tell('signOut')
        const isTold = (this.#usesCookie ? this.#endAtServer() : this.#logOut(ended ?? {})).then(() => true, error => {
            if (error instanceof VestibuleError) return false
            throw error
        })
        return { isTold }
    }

    /**
     * A call was refused since the session of its token has ended.
     * @param {string} token
     * @param {string} reason The code of the answer.
     */
    async ended(token, reason) {
        if (!this.isCurrent(token)) return
        const { generation } = this.#known
        await this.#tabs.locked(KEY, () => this.#forget(false, generation))
        this.#tellChange(reason)
    }

    /**
     * Whether no newer token came meanwhile.
     * @param {string} token
     */
    isCurrent(token) {
        return this.#accessToken === token
    }

    // Renewal

    async #renewOnce() {
        const { generation } = this.#known
        // Between two attempts other tabs may try.
        const reason = await repeated({ method: 'POST', isKeyed: true }, () => {
            return this.#tabs.locked(KEY, () => this.#renewLocked(generation))
        })
        // Listeners run when no other tab waits for this one.
        this.#tellChange(reason ?? 'signOut')
        if (!this.#known.user) throw new VestibuleSignedOut('Nobody is signed in.')
    }

    /**
     * @param {number} held The generation that was to be renewed. Another tab may have renewed it while this one waited.
     * @returns {Promise<string | undefined>} The code that ended the session.
     */
    async #renewLocked(held) {
        const kept = await this.#read()
        const found = kept?.user ? { generation: kept.generation, endsAtMs: kept.endsAtMs ?? 0 } : null
        const next = beforeRenewal({ held, kept: found, nowMs: Date.now() })
        if (next === 'signedOut' || !kept) {
            this.#know(kept ?? { generation: this.#known.generation }, undefined)
            return
        }
        if (next === 'take' && await this.#take(kept)) return
        try {
            const { value } = await this.#http.done(this.#usesCookie ? { ...COOKIE, method: 'POST', body: {} } : refresh(kept))
            const { refreshToken, ...rest } = this.#readable(value)
            if (this.#usesCookie && rest.sessionId !== kept.sessionId) {
                // The cookie may be another person's, so nobody goes on with it.
                await this.#forget(true, kept.generation)
                this.#endIfLeft()
                return
            }
            await this.#keep(rest, this.#usesCookie ? {} : { refreshToken }, kept.generation)
        } catch (error) {
            const outcome = outcomeOf(error)
            if (!outcome || afterRenewal(outcome) !== 'signedOut') throw error
            await this.#forget(false, kept.generation)
            return outcome.code
        }
    }

    /**
     * The session that an answer has. Somebody between may have answered in the server's place.
     * @param {any} value
     * @returns {SignedIn}
     */
    #readable(value) {
        const isSession = value?.accessToken && value.user && (this.#usesCookie || value.refreshToken)
        if (!isSession) throw new VestibuleUnreadable(200)
        return value
    }

    /**
     * Takes over what another tab got.
     * @param {Kept} kept
     * @returns {Promise<boolean>} Whether its token is there.
     */
    async #take(kept) {
        if (!this.#usesCookie) {
            this.#know(kept, kept.accessToken)
            return true
        }
        this.#tabs.say({ about: 'ask' })
        const arrived = () => this.#known.generation >= kept.generation && this.#accessToken !== undefined
        if (!arrived()) await this.#message(arrived)
        return arrived()
    }

    /**
     * Waits for a message, for a bounded time.
     * @param {() => boolean} arrived
     */
    #message(arrived) {
        return new Promise(resolve => {
            const end = () => {
                clearTimeout(timer)
                this.#waiting.delete(look)
                resolve(undefined)
            }
            const look = () => { if (arrived()) end() }
            const timer = setTimeout(end, MESSAGE_MS)
            this.#waiting.add(look)
        })
    }

    // What is kept

    /**
     * Saves a session before it is used.
     * @param {Omit<SignedIn, 'refreshToken'>} session
     * @param {{ refreshToken?: string, deviceSecret?: string }} secrets
     * @param {number} [from] The generation that was renewed; a sign-in or a sign-out that came meanwhile stays.
     */
    async #keep(session, secrets, from) {
        let isOurs = false
        const kept = await this.#change(old => {
            // Two renewals of the same session that did not wait for each other: the later answer is the good one.
            if (from !== undefined && old && old.generation !== from && old.sessionId !== session.sessionId) {
                // Somebody signed out while the answer was on its way, and the answer brought the cookie back.
                return this.#usesCookie && !old.user ? { ...old, isEnding: true } : old
            }
            isOurs = true
            return {
                deviceSecret: old?.deviceId === session.deviceId ? old.deviceSecret : undefined,
                ...secrets, generation: (old?.generation ?? 0) + 1, user: session.user, sessionId: session.sessionId,
                deviceId: session.deviceId, endsAtMs: Date.now() + session.expiresInSeconds * 1000,
                accessToken: this.#usesCookie ? undefined : session.accessToken,
            }
        })
        this.#know(kept, isOurs ? session.accessToken : kept.accessToken)
        if (isOurs) this.#say()
        else this.#endIfLeft()
    }

    /**
     * Forgets the session.
     * @param {boolean} isEnding Whether the server has to be told.
     * @param {number} [from] The generation that ended; a newer one stays.
     * @param {boolean} [withDevice] Whether the device is forgotten, too.
     */
    async #forget(isEnding, from, withDevice) {
        const kept = await this.#change(old => {
            if (from !== undefined && old && old.generation !== from) return old
            const { generation = 0, deviceId, deviceSecret } = old ?? {}
            const device = withDevice ? {} : { deviceId, deviceSecret }
            return { generation: generation + 1, ...device, isEnding: isEnding || undefined }
        })
        this.#know(kept, kept.accessToken)
        if (!kept.user) this.#say()
    }

    /** Tells the server of a sign-out of which it could not be told yet. */
    #endIfLeft() {
        if (this.#known.isEnding) this.#endAtServer().catch(() => {})
    }

    #endAtServer() {
        const ending = this.#endCookie()
        this.#ending = ending.catch(() => {})
        return ending
    }

    /**
     * Ends the session of the cookie, where it is to end.
     * @param {boolean} [isReplaced] Whether another session comes in its place.
     */
    #endCookie(isReplaced = false) {
        return this.#tabs.locked(KEY, async () => {
            const kept = await this.#read()
            // Another tab may have ended it, or somebody has signed in since.
            if (!kept?.isEnding && !(isReplaced && kept?.user)) return
            await this.#http.done({ ...COOKIE, method: 'DELETE' })
            await this.#change(old => old && { ...old, isEnding: undefined })
        })
    }

    /**
     * Ends a session by its tokens.
     * @param {{ accessToken?: string, refreshToken?: string, deviceSecret?: string }} session
     */
    async #logOut(session) {
        const logOut = (/** @type {string | undefined} */ token) => this.#http.done({ method: 'POST', path: '/auth/logout', token })
        try {
            await logOut(session.accessToken).catch(async error => {
                if (outcomeOf(error)?.code !== 'token_expired') throw error
                const { value } = await this.#http.done(refresh(session))
                await logOut(this.#readable(value).accessToken)
            })
        } catch (error) {
            const outcome = outcomeOf(error)
            // It has ended before.
            if (!outcome || afterRenewal(outcome) !== 'signedOut') throw error
        }
    }

    /** @returns {Promise<Kept | undefined>} */
    #read() {
        return this.#store.read(KEY)
    }

    /**
     * @param {(old: Kept | undefined) => Kept | undefined} change
     * @returns {Promise<Kept>}
     */
    #change(change) {
        return this.#store.change(KEY, change)
    }

    #tokenState() {
        if (!this.#accessToken) return 'over'
        return tokenState({ endsAtMs: this.#known.endsAtMs ?? 0, nowMs: Date.now() })
    }

    // Other tabs, and listeners

    /**
     * @param {Kept} kept
     * @param {string | undefined} accessToken
     */
    #know(kept, accessToken) {
        this.#known = kept
        this.#accessToken = kept.user ? accessToken : undefined
        this.#waiting.forEach(look => look())
    }

    /** @param {any} message */
    async #heard(message) {
        if (message.about === 'ask' && this.#usesCookie && this.#accessToken) this.#say()
        if (message.about !== 'session') return
        if (!this.#usesCookie) await this.#look().catch(() => {})
        else if (this.#isNews(message.kept)) this.#know(message.kept, message.accessToken)
        this.#tellChange('signOut')
    }

    /** Tells the other tabs what this one knows. Where they can read it, they are told that there is something. */
    #say() {
        this.#tabs.say({ about: 'session', ...this.#usesCookie && { kept: this.#known, accessToken: this.#accessToken } })
    }

    /** Reads what the tabs share. */
    async #look() {
        const kept = await this.#read()
        if (kept && this.#isNews(kept)) this.#know(kept, kept.accessToken)
    }

    /** @param {Kept} kept */
    #isNews({ generation }) {
        return generation > this.#known.generation || generation === this.#known.generation && !this.#accessToken
    }

    /**
     * Tells the app if it was told of somebody else before.
     * @param {string} reason Why nobody is signed in.
     */
    #tellChange(reason) {
        const { user } = this.#known
        if (user?.id !== this.#told) this.#tell(user ? 'signIn' : reason)
    }

    /** @param {string} reason */
    #tell(reason) {
        const { user } = this.#known
        this.#told = user?.id
        /** @type {SessionState} */
        const state = { state: user ? 'signedIn' : 'signedOut', user, reason }
        // What a listener throws is the app's, not the session's.
        for (const listener of this.#listeners) queueMicrotask(() => listener(state))
    }
}

/**
 * @param {{ refreshToken?: string, deviceSecret?: string }} pair
 * @returns {import('./http.js').Request}
 */
function refresh({ refreshToken, deviceSecret }) {
    return { method: 'POST', path: '/auth/token/refresh', body: { refreshToken, deviceSecret }, limitMs: HELD_MS }
}
