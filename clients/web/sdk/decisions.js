// What the client decides, as functions of their input alone. Their cases lie in clients/cases.json; the Swift client decides the
// same way.

/** @typedef {import('./calls.js').Outcome} Outcome */

/** The bounds that the decisions keep. */
export const LIMITS = Object.freeze({
    /** How often a call is sent at most. */
    attempts: 4,
    /** The longest time that all waits of a call may take. */
    waitMs: 15_000,
    /** The wait before the second attempt; each further one is twice as long, up to the longest. */
    firstWaitMs: 400,
    longestWaitMs: 4_000,
    /** How long before its end an access token is renewed. */
    renewBeforeMs: 60_000,
    /** Writes of one request, and the bytes of their JSON. */
    batchWrites: 100,
    batchBytes: 60_000,
    /** The wait after a queue could not be sent, and the longest one. */
    queueFirstWaitMs: 1_000,
    queueLongestWaitMs: 60_000,
})

const ENDS_SESSION = ['refresh_token_reused', 'refresh_token_invalid', 'token_revoked', 'unauthorized']
const PASSING = [408, 429, 500, 502, 503, 504]

/**
 * What an answer to a renewal of the tokens means for the session.
 * @param {Outcome} outcome
 * @returns {'signedIn' | 'signedOut' | 'kept'}
 */
export function afterRenewal({ status, code }) {
    if (status === 200) return 'signedIn'
    return status === 401 && ENDS_SESSION.includes(code ?? '') ? 'signedOut' : 'kept'
}

/**
 * What to do when a call with the access token was refused with 401. `isCurrent`: no newer token came meanwhile.
 * `isRenewed`: the call was repeated with a new token already.
 * @param {{ code?: string, isCurrent: boolean, isRenewed: boolean }} refusal
 * @returns {'renew' | 'repeat' | 'signedOut' | 'none'}
 */
export function afterUnauthorized({ code, isCurrent, isRenewed }) {
    if (code !== 'token_expired' && !ENDS_SESSION.includes(code ?? '')) return 'none'
    if (!isCurrent) return isRenewed ? 'none' : 'repeat'
    if (code === 'token_expired') return isRenewed ? 'none' : 'renew'
    return 'signedOut'
}

/**
 * Whether an access token may be used: `soon` is used, and renewed meanwhile.
 * @param {{ endsAtMs: number, nowMs: number }} token
 * @returns {'fresh' | 'soon' | 'over'}
 */
export function tokenState({ endsAtMs, nowMs }) {
    if (nowMs >= endsAtMs) return 'over'
    return endsAtMs - nowMs > LIMITS.renewBeforeMs ? 'fresh' : 'soon'
}

/**
 * What whoever may renew finds: `held` is the session that it knows, `kept` the one that all tabs share.
 * @param {{ held: number, kept: { generation: number, endsAtMs: number } | null, nowMs: number }} found
 * @returns {'renew' | 'take' | 'signedOut'} `take`: somebody else renewed meanwhile.
 */
export function beforeRenewal({ held, kept, nowMs }) {
    if (!kept) return 'signedOut'
    return kept.generation > held && tokenState({ endsAtMs: kept.endsAtMs, nowMs }) === 'fresh' ? 'take' : 'renew'
}

/**
 * Whether a call that failed is sent again, and after which wait. `random` is from 0 up to 1.
 * @param {{
 *     method: string, isKeyed?: boolean, hasIfMatch?: boolean, outcome: Outcome, attempt: number, waitedMs: number,
 *     isOnline?: boolean, random: number }} failure
 * @returns {{ repeat: false } | { repeat: true, waitMs: number }}
 */
export function repetition({ method, isKeyed = false, hasIfMatch = false, outcome, attempt, waitedMs, isOnline = true, random }) {
    const { status, code, retryAfterSeconds } = outcome
    const isPassing = status === undefined || PASSING.includes(status) || code === 'request_in_progress'
    // At 429 nothing was done. Otherwise the call may have had its effect.
    const mayRepeat = status === 429
        || (method === 'POST' ? isKeyed : method === 'PATCH' ? !hasIfMatch : ['GET', 'PUT', 'DELETE'].includes(method))
    if (!isPassing || !mayRepeat || attempt >= LIMITS.attempts || (status === undefined && !isOnline)) return { repeat: false }
    const longest = Math.min(LIMITS.longestWaitMs, LIMITS.firstWaitMs * 2 ** (attempt - 1))
    const spread = Math.floor(longest / 2 * random)
    const waitMs = retryAfterSeconds === undefined ? longest / 2 + spread : retryAfterSeconds * 1000 + spread
    return waitedMs + waitMs > LIMITS.waitMs ? { repeat: false } : { repeat: true, waitMs }
}

/**
 * Seconds until a code may be asked for again, or whatever else a reply put off.
 * @param {{ seconds: number, sinceMs: number, nowMs: number }} delay
 */
export function secondsLeft({ seconds, sinceMs, nowMs }) {
    return Math.min(seconds, Math.max(0, Math.ceil((sinceMs + seconds * 1000 - nowMs) / 1000)))
}

// The queue of answers. Each function returns a new queue, and leaves the old one as it is.

/** @typedef {import('./calls.js').Queue} Queue */
/** @typedef {import('./calls.js').Write} Write */
/** @typedef {import('./calls.js').Conflict} Conflict */
/** @typedef {import('./generated/models.js').QueuedResult} Result */

const STOPS_QUEUE = ['version_closed', 'session_stopped', 'not_found']

/** @returns {Queue} */
export function emptyQueue() {
    return { writes: [], conflicts: [], refused: [] }
}

/**
 * Where an answer belongs: the question, in a section that repeats with its subject.
 * @param {{ question: string, subject?: string }} answer
 */
export function place({ question, subject }) {
    return subject === undefined ? question : `${question}/${subject}`
}

/**
 * The queue with one more write at its end.
 * @param {Queue} queue
 * @param {Write} write
 * @returns {Queue}
 */
export function withWrite(queue, write) {
    if (holds(queue, write.mutationId)) return queue
    const isElsewhere = (/** @type {{ question: string, subject?: string }} */ other) => place(other) !== place(write)
    const refused = queue.refused.filter(each => isElsewhere(each.write))
    const conflict = queue.conflicts.find(each => !isElsewhere(each.mine))
    // Who writes without having seen the other answer still has to choose.
    if (conflict && !write.force && (write.baseRevision ?? 0) < conflict.theirs.revision) {
        return { ...queue, refused, conflicts: queue.conflicts.map(each => each === conflict ? { ...each, mine: write } : each) }
    }
    return { ...queue, refused, conflicts: queue.conflicts.filter(each => each !== conflict), writes: [...queue.writes, write] }
}

/**
 * @param {Queue} queue
 * @param {string} mutationId
 */
function holds(queue, mutationId) {
    return [...queue.writes, ...queue.conflicts.map(each => each.mine), ...queue.refused.map(each => each.write)]
        .some(each => each.mutationId === mutationId)
}

/**
 * The writes of the next request, in order. A second write of the same answer waits for the first one's revision.
 * @param {Queue} queue
 * @returns {Write[]}
 */
export function nextBatch(queue) {
    if (queue.blocked) return []
    /** @type {Write[]} */
    const batch = []
    const places = new Set()
    let bytes = 0
    for (const write of queue.writes) {
        bytes += new TextEncoder().encode(JSON.stringify(write)).length
        const isFull = batch.length >= (queue.limit ?? LIMITS.batchWrites) || (batch.length > 0 && bytes > LIMITS.batchBytes)
        if (isFull || places.has(place(write))) break
        batch.push(write)
        places.add(place(write))
    }
    return batch
}

/**
 * The queue after a request of these writes. `results` are those of an answer with status 200.
 * @param {Queue} queue
 * @param {string[]} sent Mutation ids.
 * @param {Outcome & { detail?: string, results?: Result[] }} outcome
 * @returns {Queue}
 */
export function afterBatch(queue, sent, { status, code, detail, results }) {
    if (status === 200) return grown((results ?? []).reduce(afterResult, queue))
    const blocked = STOPS_QUEUE.find(each => each === code)
    if (blocked) return { ...queue, blocked: /** @type {Queue['blocked']} */ (blocked) }
    if (status !== 400 && status !== 413 && status !== 422) return queue
    // One of the writes is wrong, or all are too large together: for a proxy too, whose page has no code.
    if (sent.length > 1 && (code || status === 413)) return { ...queue, limit: Math.floor(sent.length / 2) }
    const write = queue.writes.find(each => each.mutationId === sent[0])
    // Such a page is no verdict on a write.
    if (!write || !code) return queue
    const error = { code, detail: detail ?? '' }
    return { ...queue, writes: queue.writes.filter(each => each !== write), refused: [...queue.refused, { write, error }] }
}

/**
 * @param {Queue} queue
 * @returns {Queue}
 */
function grown({ limit, ...queue }) {
    return limit === undefined || limit * 2 >= LIMITS.batchWrites ? queue : { ...queue, limit: limit * 2 }
}

/**
 * @param {Queue} queue
 * @param {Result} result
 * @returns {Queue}
 */
function afterResult(queue, { mutationId, saved, revision, error }) {
    const write = queue.writes.find(each => each.mutationId === mutationId)
    if (!write) return queue
    const writes = queue.writes.filter(each => each !== write)
    const based = basedOn(writes, place(write), revision ?? write.baseRevision ?? 0)
    if (saved) return { ...queue, writes: based, refused: queue.refused.filter(each => place(each.write) !== place(write)) }
    if (error?.code === 'answer_conflict' && error.current) {
        const same = queue.writes.filter(each => place(each) === place(write))
        const conflict = { mine: same[same.length - 1], theirs: /** @type {Conflict['theirs']} */ (error.current) }
        return { ...queue, writes: queue.writes.filter(each => !same.includes(each)), conflicts: [...queue.conflicts, conflict] }
    }
    // What comes after a refused write has seen what that one had seen.
    return { ...queue, writes: based, refused: [...queue.refused, { write, error: error ?? { code: 'unknown', detail: '' } }] }
}

/**
 * The next write of an answer has seen the one that was just saved.
 * @param {Write[]} writes
 * @param {string} saved
 * @param {number} revision
 */
function basedOn(writes, saved, revision) {
    const next = writes.find(each => place(each) === saved)
    return writes.map(each => each === next ? { ...each, baseRevision: Math.max(each.baseRevision ?? 0, revision) } : each)
}

/**
 * The queue after the person has chosen. To keep one's own answer is a new write, which has seen the other.
 * @param {Queue} queue
 * @param {string} chosenFor The mutation id of the conflict's `mine`.
 * @param {{ keep: 'mine', mutationId: string } | { keep: 'theirs' }} choice
 * @returns {Queue}
 */
export function afterChoice(queue, chosenFor, choice) {
    const conflict = queue.conflicts.find(each => each.mine.mutationId === chosenFor)
    if (!conflict) return queue
    const conflicts = queue.conflicts.filter(each => each !== conflict)
    if (choice.keep === 'theirs') return { ...queue, conflicts }
    const write = { ...conflict.mine, mutationId: choice.mutationId, baseRevision: conflict.theirs.revision }
    return { ...queue, conflicts, writes: [...queue.writes, write] }
}

/**
 * How long a queue waits that could not be sent.
 * @param {{ failures: number, retryAfterSeconds?: number, random: number }} failed
 */
export function queueWaitMs({ failures, retryAfterSeconds = 0, random }) {
    const longest = Math.min(LIMITS.queueLongestWaitMs, LIMITS.queueFirstWaitMs * 2 ** (failures - 1))
    return Math.max(longest / 2, retryAfterSeconds * 1000) + Math.floor(longest / 2 * random)
}
