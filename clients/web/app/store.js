// What the app keeps in the browser beside the session and the queue of answers.

const prefix = 'vestibule.'

/** Keeps a value until `until` of it, in milliseconds; `undefined` takes it away. */
export function keep(name, value) {
    if (value === undefined) localStorage.removeItem(prefix + name)
    else localStorage.setItem(prefix + name, JSON.stringify(value))
}

/** A value that was kept. One that is over is taken away. */
export function kept(name) {
    const value = JSON.parse(localStorage.getItem(prefix + name) ?? 'null')
    if (value?.until === undefined || value.until > Date.now()) return value ?? undefined
    keep(name, undefined)
    return undefined
}

/** Takes away what is about the person. The language and the app stay, and what is named. */
export function forget(...spared) {
    const stay = ['language', 'app', ...spared].map(name => prefix + name)
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix) && !stay.includes(key)) localStorage.removeItem(key)
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
