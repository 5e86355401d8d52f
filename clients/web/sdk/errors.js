/** @typedef {import('./generated/models.js').Problem} Problem */

/** Why a call has no reply. */
export class VestibuleError extends Error {
    /**
     * @param {string} message
     * @param {unknown} [cause]
     */
    constructor(message, cause) {
        super(message, cause === undefined ? undefined : { cause })
        this.name = new.target.name
    }
}

/** The server refused the call, or failed. Decide by `code`; `detail` may be shown to the person. */
export class VestibuleProblem extends VestibuleError {
    /** @param {Problem} problem */
    constructor(problem) {
        super(`${problem.status} ${problem.code}`)
        /** @type {import('./generated/models.js').ProblemCode} */
        this.code = problem.code
        this.status = problem.status
        /** A sentence that a person may be shown, in the language of the call. */
        this.detail = problem.detail
        /** What is wrong with which member. */
        this.errors = problem.errors ?? []
        /** When to try again. */
        this.retryAfterSeconds = problem.retryAfterSeconds
        /** Names the request in the server's log. */
        this.traceId = problem.traceId
        /**
         * The whole document: some codes have further members.
         * @type {Problem & Record<string, any>}
         */
        this.problem = problem
    }
}

/** No answer came: there is no network, or it took too long. Whether the call had its effect is not known. */
export class VestibuleOffline extends VestibuleError {}

/** An answer that is none of Vestibule's, as of a proxy on the way, or one that was cut. */
export class VestibuleUnreadable extends VestibuleError {
    /**
     * @param {number} status
     * @param {number} [retryAfterSeconds]
     * @param {unknown} [cause]
     */
    constructor(status, retryAfterSeconds, cause) {
        super(`The answer with status ${status} cannot be read.`, cause)
        this.status = status
        /** When to try again. */
        this.retryAfterSeconds = retryAfterSeconds
    }
}

/** The value still has the version that `ifNoneMatch` named. */
export class VestibuleNotModified extends VestibuleError {}

/** The call needs a session, and nobody is signed in. */
export class VestibuleSignedOut extends VestibuleError {}

/** What the device keeps cannot be read or written now. Nobody is signed out by it. */
export class VestibuleStoreFailed extends VestibuleError {}
