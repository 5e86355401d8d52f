/** Counts the seconds until something may be asked for again, such as another code. */
export class Resend {
    /** @param {number} seconds `resendAfterSeconds` of a reply, or `retryAfterSeconds` of a problem. */
    constructor(seconds: number);
    /** Whole seconds that are left; 0 when it may be asked for. */
    get secondsLeft(): number;
    /**
     * Calls the listener now and each second until none is left.
     * @param {(secondsLeft: number) => void} listener
     */
    onTick(listener: (secondsLeft: number) => void): void;
    /** Ends all ticks. */
    stop(): void;
    #private;
}
