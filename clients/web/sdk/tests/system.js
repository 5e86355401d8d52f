import { execFileSync } from 'node:child_process'
import { webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Vestibule, MemoryStore } from '../vestibule.js'

// Node.js 18 has it, but not as a global.
globalThis.crypto ??= /** @type {Crypto} */ (webcrypto)

/** @param {string} name */
function given(name) {
    const value = process.env[name]
    if (!value) throw new Error(`scripts/web-sdk-test runs these tests: it sets ${name}.`)
    return value
}

/** The system that scripts/web-sdk-test started. */
export const ADDRESS = given('ADDRESS')
const STATE = given('STATE')

let phones = 0

/** A number that nobody had before, in this file of tests. */
export function newPhone() {
    phones += 1
    return `+46701${String(Number(given('PHONES')) + process.pid % 500 * 100 + phones).padStart(6, '0')}`
}

/** @param {string} phone */
export function messages(phone) {
    const lines = readFileSync(`${STATE}/spool/sms.jsonl`, 'utf8').trim().split('\n').map(line => JSON.parse(line))
    return lines.filter(each => Object.values(each).includes(phone))
}

/**
 * Signs in with a code that the system sent.
 * @param {Vestibule} vestibule
 * @param {string} phone
 */
export async function signIn(vestibule, phone, name = 'A test') {
    const { challengeId } = await vestibule.sendOTP({ body: { phone } })
    let sent
    do sent = await vestibule.getCodeDelivery({ challengeId })
    while (sent.delivery === 'queued')
    const text = execFileSync(`${given('PROGRAMS')}/vestibule`, ['sms', 'last', phone, '--state', STATE], { encoding: 'utf8' })
    return vestibule.verifyOTP({ body: { challengeId, code: text.slice(0, 6), device: { name, platform: 'web' } } })
}

/**
 * A client that is signed in, and what its device keeps.
 * @param {{ address?: string, store?: MemoryStore, phone?: string }} [of]
 */
export async function signedIn({ address = ADDRESS, store = new MemoryStore(), phone = newPhone() } = {}) {
    const vestibule = new Vestibule({ address, session: 'tokens', store })
    await signIn(vestibule, phone)
    return { vestibule, store, phone }
}
