/** How long a request may take under a lock, in milliseconds: it ends before another tab goes on without. */
export const HELD_MS: 3500;
/** What the tabs of one origin have in common. Where the platform has no other tabs, it is one alone. */
export class Tabs {
    /** @param {string} name Tabs of the same name belong together. */
    constructor(name: string);
    /**
     * Carries out work while no other tab does any of the same name. It waits five seconds at most.
     * @template Result
     * @param {string} name
     * @param {() => Promise<Result>} work
     * @returns {Promise<Result>}
     */
    locked<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
    /**
     * Tells all other tabs.
     * @param {unknown} message
     */
    say(message: unknown): void;
    /**
     * @param {(message: any) => void} listener
     * @returns {() => void} Ends it.
     */
    hear(listener: (message: any) => void): () => void;
    /** Ends the connection to the other tabs. */
    close(): void;
    #private;
}
