/** @typedef {import('./generated/models.js').Problem} Problem */
/** Why a call has no reply. */
export class VestibuleError extends Error {
    /**
     * @param {string} message
     * @param {unknown} [cause]
     */
    constructor(message: string, cause?: unknown);
}
/** The server refused the call, or failed. Decide by `code`; `detail` may be shown to the person. */
export class VestibuleProblem extends VestibuleError {
    /** @param {Problem} problem */
    constructor(problem: Problem);
    /** @type {import('./generated/models.js').ProblemCode} */
    code: import('./generated/models.js').ProblemCode;
    status: number;
    /** A sentence that a person may be shown, in the language of the call. */
    detail: string;
    /** What is wrong with which member. */
    errors: import("./generated/models.js").FieldProblem[];
    /** When to try again. */
    retryAfterSeconds: number | undefined;
    /** Names the request in the server's log. */
    traceId: string;
    /**
     * The whole document: some codes have further members.
     * @type {Problem & Record<string, any>}
     */
    problem: Problem & Record<string, any>;
}
/** No answer came: there is no network, or it took too long. Whether the call had its effect is not known. */
export class VestibuleOffline extends VestibuleError {
}
/** An answer that is none of Vestibule's, as of a proxy on the way, or one that was cut. */
export class VestibuleUnreadable extends VestibuleError {
    /**
     * @param {number} status
     * @param {number} [retryAfterSeconds]
     * @param {unknown} [cause]
     */
    constructor(status: number, retryAfterSeconds?: number | undefined, cause?: unknown);
    status: number;
    /** When to try again. */
    retryAfterSeconds: number | undefined;
}
/** The value still has the version that `ifNoneMatch` named. */
export class VestibuleNotModified extends VestibuleError {
}
/** The call needs a session, and nobody is signed in. */
export class VestibuleSignedOut extends VestibuleError {
}
/** What the device keeps cannot be read or written now. Nobody is signed out by it. */
export class VestibuleStoreFailed extends VestibuleError {
}
export type Problem = import('./generated/models.js').Problem;
