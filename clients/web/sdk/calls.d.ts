/** What any call takes beside its own members. */
export type CallOptions = {
    /** Ends the call; it then throws the signal's reason. */
    signal?: AbortSignal
    /** Of a POST: names it, so that a repetition is not done twice. Each call has one of its own without it. */
    idempotencyKey?: string
    /** How often the call is sent at most. */
    attempts?: number
}

/** One request of the public API. */
export type Call = CallOptions & {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    path: string
    /** Who may call. */
    access: 'open' | 'session' | 'sessionIfAny' | 'recoveryToken'
    /** Parameters in the query; those without a value are not sent. */
    query?: Record<string, string | number | undefined>
    /** Further headers; those without a value are not sent. */
    headers?: Record<string, string | undefined>
    /** Sent as JSON. */
    body?: Record<string, unknown>
    /** Of a recovery case. */
    token?: string
    /** Whether the answer has a version: the reply is then an `Answer`. */
    versioned?: boolean
    /** Whether the answer may be a session. */
    signsIn?: boolean
    /** Where the publishable key of the app goes. */
    app?: 'body' | 'query'
    /** Whether the body says in `device` which device calls, if it is a known one. */
    knowsDevice?: boolean
    /** Whether the operation takes an `Idempotency-Key`. */
    keyed?: boolean
}

/** What an operation answered, and which version of it. */
export type Answer<Value> = {
    value: Value
    /** Names this version in a later call, as `ifMatch` or `ifNoneMatch`. */
    eTag?: string
}

/** What came of one request. Without a status no answer came. */
export type Outcome = {
    status?: number
    /** The code of a problem document. */
    code?: string
    retryAfterSeconds?: number
}

/** Keeps values that JSON can have, by name. An app may bring its own. It never calls the client. */
export interface Store {
    /** The value; `undefined` where there is none. */
    read(key: string): Promise<any>
    /**
     * Changes a value in one step that no other tab gets into, and returns the new one once it is saved. Where `change` answers
     * `undefined`, nothing is left.
     */
    change(key: string, change: (value: any) => any): Promise<any>
    /** The names of all values that begin like this. */
    keys(prefix: string): Promise<string[]>
}

/** One write of an answer, as it waits and as it is sent. */
export type Write = import('./generated/models.js').QueuedAnswer

/** What an app gives to be saved: the queue adds what is missing. */
export type NewWrite = Omit<Write, 'mutationId'> & { mutationId?: string }

/** Two devices answered the same question. The person chooses. */
export type Conflict = {
    /** What was answered here. */
    mine: Write
    /** What the server has. */
    theirs: {
        revision: number
        state: import('./generated/models.js').AnswerState
        value?: any
        /** The person's name for the device that wrote it. */
        device?: string
        preference?: import('./generated/models.js').AnswerPreference
    }
}

/** A write that the server does not take. The person answers again. */
export type Refusal = { write: Write, error: import('./generated/models.js').QueuedError }

/** What waits in a session of a questionnaire. */
export type Queue = {
    /** In the order in which they are sent. */
    writes: Write[]
    conflicts: Conflict[]
    refused: Refusal[]
    /** Why nothing is sent until the app has done something. */
    blocked?: 'version_closed' | 'session_stopped' | 'not_found'
    /** How many writes a request may have after a larger one was not taken. */
    limit?: number
    /** The key of the questionnaire, with which a client sends what waits after the app was opened again. */
    questionnaire?: string
}
