import { VestibuleStoreFailed } from './errors.js'

/** @typedef {import('./calls.js').Store} Store */

/**
 * A store whose failures are errors of the client.
 * @param {Store} store
 * @returns {Store}
 */
export function guarded(store) {
    /**
     * @template Value
     * @param {() => Promise<Value>} work
     */
    const guard = async work => {
        try {
            return await work()
        } catch (error) {
            throw new VestibuleStoreFailed('The device cannot read or save now.', error)
        }
    }
    return {
        read: key => guard(() => store.read(key)),
        change: (key, change) => guard(() => store.change(key, change)),
        keys: prefix => guard(() => store.keys(prefix)),
    }
}

/**
 * Keeps values as long as the page lives.
 * @implements {Store}
 */
export class MemoryStore {
    /** @type {Map<string, string>} */
    #values = new Map()

    /** @param {string} key */
    async read(key) {
        const text = this.#values.get(key)
        return text === undefined ? undefined : JSON.parse(text)
    }

    /**
     * @param {string} key
     * @param {(value: any) => any} change
     */
    async change(key, change) {
        const text = this.#values.get(key)
        const value = change(text === undefined ? undefined : JSON.parse(text))
        if (value === undefined) this.#values.delete(key)
        else this.#values.set(key, JSON.stringify(value))
        return value
    }

    /** @param {string} prefix */
    async keys(prefix) {
        return [...this.#values.keys()].filter(key => key.startsWith(prefix))
    }
}

/**
 * Keeps values in the browser, for all tabs of the page's origin.
 * @implements {Store}
 */
export class IndexedDBStore {
    /** @type {Promise<IDBDatabase> | undefined} */
    #database
    #name

    /** @param {string} name Of the database. */
    constructor(name) {
        this.#name = name
    }

    /** @param {string} key */
    read(key) {
        return this.#run('readonly', values => values.get(key))
    }

    /**
     * @param {string} key
     * @param {(value: any) => any} change
     */
    async change(key, change) {
        /** @type {any} */
        let changed
        await this.#run('readwrite', values => {
            const request = values.get(key)
            request.onsuccess = () => {
                changed = change(request.result)
                if (changed === undefined) values.delete(key)
                else values.put(changed, key)
            }
            return request
        })
        return changed
    }

    /** @param {string} prefix */
    async keys(prefix) {
        const all = await this.#run('readonly', values => values.getAllKeys(IDBKeyRange.bound(prefix, `${prefix}\uffff`)))
        return all.map(String)
    }

    /**
     * @template Value
     * @param {IDBTransactionMode} mode
     * @param {(values: IDBObjectStore) => IDBRequest<Value>} steps
     * @returns {Promise<Value>}
     */
    async #run(mode, steps) {
        this.#database ??= this.#open()
        this.#database.catch(() => { this.#database = undefined })
        const database = await this.#database
        return new Promise((resolve, reject) => {
            // Whoever is told that a value is saved finds it after a power cut.
            const transaction = database.transaction('values', mode, { durability: 'strict' })
            const request = steps(transaction.objectStore('values'))
            transaction.oncomplete = () => resolve(request.result)
            transaction.onabort = () => reject(transaction.error)
        })
    }

    /** @returns {Promise<IDBDatabase>} */
    #open() {
        return new Promise((resolve, reject) => {
            const request = indexedDB.open(this.#name, 1)
            request.onupgradeneeded = () => { request.result.createObjectStore('values') }
            request.onerror = () => reject(request.error)
            request.onsuccess = () => {
                const database = request.result
                // A browser closes a database that the person clears; the next access opens a new one.
                database.onclose = () => { this.#database = undefined }
                database.onversionchange = () => { database.close(); this.#database = undefined }
                resolve(database)
            }
        })
    }
}
