// What the app keeps in the browser beside the session and the queue of answers.

const prefix = 'vestibule.'

/** The browser's storage; `null` if it refuses one, as where the person has switched off cookies and site data. */
export const storage = storageIfAny()

function storageIfAny() {
    try {
        return localStorage
    } catch {
        return null
    }
}

/** Keeps a value until `until` of it, in milliseconds; `undefined` takes it away. */
export function keep(name, value) {
    if (value === undefined) storage?.removeItem(prefix + name)
    else storage?.setItem(prefix + name, JSON.stringify(value))
}

/** A value that was kept. One that is over is taken away. */
export function kept(name) {
    const value = JSON.parse(storage?.getItem(prefix + name) ?? 'null')
    if (value?.until === undefined || value.until > Date.now()) return value ?? undefined
    keep(name, undefined)
    return undefined
}

/** Takes away what is about the person. The language and the app stay, and what is named. */
export function forget(...spared) {
    const stay = ['language', 'app', ...spared].map(name => prefix + name)
    for (const key of Object.keys(storage ?? {})) if (key.startsWith(prefix) && !stay.includes(key)) storage.removeItem(key)
}

/**
 * Says who is signed in. What was kept for another person is taken away, but for a recovery, which nobody is signed in for.
 *
 * @param {string | undefined} person
 */
export function bind(person) {
    const before = kept('person')?.id
    if (before === person) return
    if (before !== undefined) forget('recovery', 'recoveryCode')
    keep('person', person && { id: person })
}
