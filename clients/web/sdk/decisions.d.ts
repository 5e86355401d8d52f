/**
 * What an answer to a renewal of the tokens means for the session.
 * @param {Outcome} outcome
 * @returns {'signedIn' | 'signedOut' | 'kept'}
 */
export function afterRenewal({ status, code }: Outcome): 'signedIn' | 'signedOut' | 'kept';
/**
 * What to do when a call with the access token was refused with 401. `isCurrent`: no newer token came meanwhile.
 * `isRenewed`: the call was repeated with a new token already.
 * @param {{ code?: string, isCurrent: boolean, isRenewed: boolean }} refusal
 * @returns {'renew' | 'repeat' | 'signedOut' | 'none'}
 */
export function afterUnauthorized({ code, isCurrent, isRenewed }: {
    code?: string;
    isCurrent: boolean;
    isRenewed: boolean;
}): 'renew' | 'repeat' | 'signedOut' | 'none';
/**
 * Whether an access token may be used: `soon` is used, and renewed meanwhile.
 * @param {{ endsAtMs: number, nowMs: number }} token
 * @returns {'fresh' | 'soon' | 'over'}
 */
export function tokenState({ endsAtMs, nowMs }: {
    endsAtMs: number;
    nowMs: number;
}): 'fresh' | 'soon' | 'over';
/**
 * What whoever may renew finds: `held` is the session that it knows, `kept` the one that all tabs share.
 * @param {{ held: number, kept: { generation: number, endsAtMs: number } | null, nowMs: number }} found
 * @returns {'renew' | 'take' | 'signedOut'} `take`: somebody else renewed meanwhile.
 */
export function beforeRenewal({ held, kept, nowMs }: {
    held: number;
    kept: {
        generation: number;
        endsAtMs: number;
    } | null;
    nowMs: number;
}): 'renew' | 'take' | 'signedOut';
/**
 * Whether a call that failed is sent again, and after which wait. `random` is from 0 up to 1.
 * @param {{
 *     method: string, isKeyed?: boolean, hasIfMatch?: boolean, outcome: Outcome, attempt: number, waitedMs: number,
 *     isOnline?: boolean, random: number }} failure
 * @returns {{ repeat: false } | { repeat: true, waitMs: number }}
 */
export function repetition({ method, isKeyed, hasIfMatch, outcome, attempt, waitedMs, isOnline, random }: {
    method: string;
    isKeyed?: boolean;
    hasIfMatch?: boolean;
    outcome: Outcome;
    attempt: number;
    waitedMs: number;
    isOnline?: boolean;
    random: number;
}): {
    repeat: false;
} | {
    repeat: true;
    waitMs: number;
};
/**
 * Seconds until a code may be asked for again, or whatever else a reply put off.
 * @param {{ seconds: number, sinceMs: number, nowMs: number }} delay
 */
export function secondsLeft({ seconds, sinceMs, nowMs }: {
    seconds: number;
    sinceMs: number;
    nowMs: number;
}): number;
/** @returns {Queue} */
export function emptyQueue(): Queue;
/**
 * Where an answer belongs: the question, in a section that repeats with its subject.
 * @param {{ question: string, subject?: string }} answer
 */
export function place({ question, subject }: {
    question: string;
    subject?: string;
}): string;
/**
 * The queue with one more write at its end.
 * @param {Queue} queue
 * @param {Write} write
 * @returns {Queue}
 */
export function withWrite(queue: Queue, write: Write): Queue;
/**
 * The writes of the next request, in order. A second write of the same answer waits for the first one's revision.
 * @param {Queue} queue
 * @returns {Write[]}
 */
export function nextBatch(queue: Queue): Write[];
/**
 * The queue after a request of these writes. `results` are those of an answer with status 200.
 * @param {Queue} queue
 * @param {string[]} sent Mutation ids.
 * @param {Outcome & { detail?: string, results?: Result[] }} outcome
 * @returns {Queue}
 */
export function afterBatch(queue: Queue, sent: string[], { status, code, detail, results }: Outcome & {
    detail?: string;
    results?: Result[];
}): Queue;
/**
 * The queue after the person has chosen. To keep one's own answer is a new write, which has seen the other.
 * @param {Queue} queue
 * @param {string} chosenFor The mutation id of the conflict's `mine`.
 * @param {{ keep: 'mine', mutationId: string } | { keep: 'theirs' }} choice
 * @returns {Queue}
 */
export function afterChoice(queue: Queue, chosenFor: string, choice: {
    keep: 'mine';
    mutationId: string;
} | {
    keep: 'theirs';
}): Queue;
/**
 * How long a queue waits that could not be sent.
 * @param {{ failures: number, retryAfterSeconds?: number, random: number }} failed
 */
export function queueWaitMs({ failures, retryAfterSeconds, random }: {
    failures: number;
    retryAfterSeconds?: number;
    random: number;
}): number;
/** @typedef {import('./calls.js').Outcome} Outcome */
/** The bounds that the decisions keep. */
export const LIMITS: Readonly<{
    /** How often a call is sent at most. */
    attempts: 4;
    /** The longest time that all waits of a call may take. */
    waitMs: 15000;
    /** The wait before the second attempt; each further one is twice as long, up to the longest. */
    firstWaitMs: 400;
    longestWaitMs: 4000;
    /** How long before its end an access token is renewed. */
    renewBeforeMs: 60000;
    /** Writes of one request, and the bytes of their JSON. */
    batchWrites: 100;
    batchBytes: 60000;
    /** The wait after a queue could not be sent, and the longest one. */
    queueFirstWaitMs: 1000;
    queueLongestWaitMs: 60000;
}>;
export type Outcome = import('./calls.js').Outcome;
export type Queue = import('./calls.js').Queue;
export type Write = import('./calls.js').Write;
export type Conflict = import('./calls.js').Conflict;
export type Result = import('./generated/models.js').QueuedResult;
