/** @typedef {import('./calls.js').Store} Store */
/**
 * A store whose failures are errors of the client.
 * @param {Store} store
 * @returns {Store}
 */
export function guarded(store: Store): Store;
/**
 * Keeps values as long as the page lives.
 * @implements {Store}
 */
export class MemoryStore implements Store {
    /** @param {string} key */
    read(key: string): Promise<any>;
    /**
     * @param {string} key
     * @param {(value: any) => any} change
     */
    change(key: string, change: (value: any) => any): Promise<any>;
    /** @param {string} prefix */
    keys(prefix: string): Promise<string[]>;
    #private;
}
/**
 * Keeps values in the browser, for all tabs of the page's origin.
 * @implements {Store}
 */
export class IndexedDBStore implements Store {
    /** @param {string} name Of the database. */
    constructor(name: string);
    /** @param {string} key */
    read(key: string): Promise<any>;
    /**
     * @param {string} key
     * @param {(value: any) => any} change
     */
    change(key: string, change: (value: any) => any): Promise<any>;
    /** @param {string} prefix */
    keys(prefix: string): Promise<string[]>;
    #private;
}
export type Store = import('./calls.js').Store;
