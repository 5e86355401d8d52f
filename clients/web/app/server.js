// The connection to the server: one client of the SDK for the whole app.
import {
    Vestibule, VestibuleNotModified, VestibuleOffline, VestibuleProblem, VestibuleSignedOut, VestibuleUnreadable,
} from './sdk/vestibule.js'
import { keep, kept } from './store.js'
import { language, t } from './words.js'

// A provider leads back to an address without the key of the app.
const begun = kept('redirect')
if (begun?.app && location.hash.includes('state=')) {
    history.replaceState(null, '', `?app=${encodeURIComponent(begun.app)}${location.hash}`)
}
const asked = new URLSearchParams(location.search).get('app') ?? undefined

/** The publishable key of the app; `undefined` is the default app. */
export const appKey = asked ?? kept('app')?.key

/** The client. */
export const server = new Vestibule({ address: location.origin, appKey, language, session: 'cookie' })

/** Whether the session is one of the app that the address names. */
export const isOfThisApp = () => asked === undefined || (kept('app')?.key ?? undefined) === asked

/** Remembers the app that the person has signed in to. */
export const rememberApp = () => keep('app', appKey === undefined ? undefined : { key: appKey })

/** What a call was refused with; `null` if the error is something else. */
export const problemOf = error => error instanceof VestibuleProblem ? error : null

/** Whether no answer came. */
export const isOffline = error => error instanceof VestibuleOffline || error instanceof VestibuleUnreadable

/** Whether the call needs somebody who is signed in. */
export const isSignedOut = error => error instanceof VestibuleSignedOut

/** How this browser names itself to the server. */
export const device = () => ({ name: t('thisBrowser'), platform: 'web' })

/** Looks something up at a path that a field names. */
export const search = (path, query) => server.send({ method: 'GET', path, access: 'open', query })

/** What the deployment says about this app: its clients at Google and Apple, and whether there are codes to show. */
export const settings = () => (loaded ??= file('settings.json').then(found => found ?? {}))
let loaded

/** The messages with codes to a number or an address, the newest first; `null` outside the development profile. */
export async function codesOnThisMachine(to) {
    if (!(await settings()).showsCodes) return null
    return (await file(`development/codes?to=${encodeURIComponent(to)}`))?.messages ?? null
}

async function file(name) {
    const answer = await fetch(name, { credentials: 'omit' }).catch(() => null)
    return answer?.ok ? answer.json() : null
}

/** Whether what was read before is still so. */
export const isNotModified = error => error instanceof VestibuleNotModified
