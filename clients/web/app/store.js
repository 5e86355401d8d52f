// What the app keeps in the browser beside the session and the queue of answers.

const prefix = 'vestibule.'

/** Keeps a value until `until` of it, in milliseconds; `undefined` takes it away. */
export function keep(name, value) {
    if (value === undefined) localStorage.removeItem(prefix + name)
    else localStorage.setItem(prefix + name, JSON.stringify(value))
}

/** A value that was kept and is not over. */
export function kept(name) {
    const value = JSON.parse(localStorage.getItem(prefix + name) ?? 'null')
    return value && (value.until === undefined || value.until > Date.now()) ? value : undefined
}

/** Takes away what is about the person. The language stays. */
export function forget() {
    for (const key of Object.keys(localStorage)) {
        if (key.startsWith(prefix) && key !== `${prefix}language`) localStorage.removeItem(key)
    }
}
