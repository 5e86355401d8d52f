/**
 * Carries out an attempt, and again after a wait where it failed and may be repeated.
 * @template Result
 * @param {{ method: string, isKeyed?: boolean, hasIfMatch?: boolean, attempts?: number, signal?: AbortSignal }} call
 * @param {() => Promise<Result>} attempt
 * @returns {Promise<Result>}
 */
export function repeated<Result>({ method, isKeyed, hasIfMatch, attempts, signal }: {
    method: string;
    isKeyed?: boolean;
    hasIfMatch?: boolean;
    attempts?: number;
    signal?: AbortSignal;
}, attempt: () => Promise<Result>): Promise<Result>;
/**
 * What came of a request, by its error; `undefined` where it is none of the network's or the server's.
 * @param {unknown} error
 * @returns {import('./calls.js').Outcome | undefined}
 */
export function outcomeOf(error: unknown): import('./calls.js').Outcome | undefined;
