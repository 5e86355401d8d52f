import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * What happens to a request on its way: it passes, it never arrives (`before`), its answer never arrives (`after`), or somebody
 * between answers in the server's place, as a busy edge does.
 * @typedef {'pass' | 'before' | 'after' | string} Fate
 */

/** A network that fails as a test wants it to. */
export class Proxy {
    /** What came, such as `POST /auth/token/refresh`. @type {string[]} */
    requests = []
    /** Decides about each request. @type {(request: string) => Fate} */
    fate = () => 'pass'
    #server = createServer(socket => this.#carry(socket))
    #target
    /** @type {Set<import('node:net').Socket>} */
    #sockets = new Set()

    /** @param {string} address */
    constructor(address) {
        this.#target = new URL(address)
    }

    /** Begins to listen; the address. */
    async open() {
        this.#server.listen(0, '127.0.0.1')
        await once(this.#server, 'listening')
        const listened = this.#server.address()
        return `http://127.0.0.1:${typeof listened === 'object' ? listened?.port : ''}`
    }

    close() {
        this.#server.close()
        this.#sockets.forEach(socket => socket.destroy())
    }

    /** @param {import('node:net').Socket} client */
    #carry(client) {
        const server = connect(Number(this.#target.port), this.#target.hostname)
        const end = () => { client.destroy(); server.destroy() }
        /** @type {Fate} */
        let fate = 'pass'
        for (const socket of [client, server]) {
            this.#sockets.add(socket)
            socket.on('error', end)
            socket.on('close', () => { this.#sockets.delete(socket); end() })
        }
        client.on('data', bytes => {
            const request = /^([A-Z]+ [^ ?]+)[^\r\n]* HTTP\/1\.1\r\n/.exec(bytes.toString('latin1'))?.[1]
            if (request) {
                this.requests.push(request)
                fate = this.fate(request)
            }
            if (fate === 'before') end()
            else if (fate === 'pass' || fate === 'after') server.write(bytes)
            else if (request) client.end(fate)
        })
        // The answer has begun, so the call had its effect.
        server.on('data', bytes => fate === 'after' ? end() : client.write(bytes))
    }
}

/**
 * An answer with a problem document, for `fate`.
 * @param {number} status
 * @param {string} code
 * @param {Record<string, unknown>} [members]
 */
export function problem(status, code, members = {}) {
    const body = JSON.stringify({
        type: `urn:vestibule:problem:${code}`, title: code, status, code, detail: code, traceId: '0'.repeat(32), ...members })
    return `HTTP/1.1 ${status} -\r\ncontent-type: application/problem+json\r\ncontent-length: ${body.length}\r\n`
        + `connection: close\r\n\r\n${body}`
}
