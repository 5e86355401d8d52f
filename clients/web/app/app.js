// Starts the app: which route shows which page, and what happens when a page cannot be shown.
import { account, accountRoutes } from './account.js'
import { watchNetwork } from './connection.js'
import { h, link } from './dom.js'
import { blocked, done, home, saved, update, wait } from './home.js'
import { leavePage } from './leave.js'
import { patiently, show, start } from './page.js'
import { pictures } from './pictures.js'
import { finishRedirect, returned } from './providers.js'
import { profile } from './profile.js'
import { questionRoutes } from './questions.js'
import { recoveryRoutes } from './recovery.js'
import { go, plain, replace, route } from './routes.js'
import { isOffline, isOfThisApp, isSignedOut, problemOf, server } from './server.js'
import { code, confirmCode, signIn } from './sign-in.js'
import { bind, keep, kept, storage } from './store.js'
import { terms } from './terms.js'
import { errorsOf } from './values.js'
import { documentRoutes, verificationRoutes } from './verification.js'
import { language, t } from './words.js'

/** Pages that need nobody who is signed in. */
const open = [
    ['/sign-in', signIn], ['/sign-in/:kind', signIn], ['/code', code], ['/code/confirm', confirmCode], ...recoveryRoutes,
]
const own = [
    ['/', home], ['/saved', saved], ['/leave', leavePage], ['/done', done], ['/blocked', blocked], ['/wait/:step', wait],
    ['/update', update], ['/profile/:screen', profile], ...questionRoutes, ['/pictures', pictures], ...verificationRoutes, ...documentRoutes,
    ['/terms/:step', terms], ['/account', account], ...accountRoutes,
]
let current = new AbortController()
/** Whether the browser keeps anything for this page. Nobody can sign in without. */
let keeps = false

function find(routes) {
    const parts = route().split('/')
    for (const [pattern, page] of routes) {
        const wanted = pattern.split('/')
        if (wanted.length !== parts.length) continue
        if (!wanted.every((each, index) => each.startsWith(':') || each === parts[index])) continue
        return { page, values: parts.filter((_, index) => wanted[index].startsWith(':')).map(each => plain(each)) }
    }
    return null
}

/** Draws the page of the route. A page that comes too late, after another one was asked for, is not drawn. */
async function draw() {
    current.abort()
    current = new AbortController()
    const { signal } = current
    if (!keeps) return show(keepsNothing(), false, attempt)
    const given = returned()
    const isSignedIn = server.user !== undefined && isOfThisApp()
    // Whoever is signed in comes back to the sign-in only to prove it anew.
    const isOver = isSignedIn && !kept('after') && /^[/](sign-in|code)/.test(route())
    const found = isOver ? null : find(open) ?? (isSignedIn ? find(own) : null)
    if (!found && !given) return replace(isSignedIn ? '/' : kept('code') && route() === '/' ? '/code' : '/sign-in')
    const page = await patiently(attempt(() => given ? finishRedirect(given) : found.page(found.values, signal)))
    if (signal.aborted) return
    if (page.go) return replace(page.go)
    show(page, isSignedIn, attempt)
}

const keepsNothing = () => ({
    title: t('keepsNothingTitle'), content: [h('p', {}, t('keepsNothingText'))], action: t('tryAgain'), fields: [],
    submit: async () => location.reload() })

/** Does something of a page. What goes wrong becomes a page, or the failures of a page with fields of these keys. */
async function attempt(act, keys) {
    try {
        return await act()
    } catch (error) {
        const problem = problemOf(error)
        if (isSignedOut(error) || problem?.status === 401 && problem.code !== 'identity_token_invalid') return leaveFor('/sign-in', keys)
        if (problem?.code === 'reauthentication_required') {
            keep('after', { route: route(), detail: problem.detail, until: Date.now() + 600_000 })
            return leaveFor('/sign-in', keys)
        }
        const isKnown = problem || isOffline(error)
        if (!isKnown) reportError(error)
        const message = problem?.detail ?? t(isKnown ? 'offline' : 'somethingIsWrongText')
        if (keys) return problem ? errorsOf(problem, keys) : [{ message }]
        if (isOffline(error)) addEventListener('online', draw, { once: true, signal: current.signal })
        const reference = problem?.status >= 500 ? [h('p', { class: 'hint' }, t('reference', { id: problem.traceId }))] : []
        return {
            title: t(isOffline(error) ? 'offlineTitle' : 'somethingIsWrong'), content: [h('p', {}, message), ...reference],
            action: t('tryAgain'), fields: [], submit: async () => draw(), further: [link(t('start'), '/')],
        }
    }
}

/** Leads away from a page that is about to be drawn, or from one that is there. */
function leaveFor(to, keys) {
    if (keys) go(to)
    return keys ? [] : { go: to }
}

start({
    onLanguage() {
        server.language = language
        draw()
    },
})
watchNetwork()
keeps = Boolean(storage) && await server.start().then(() => true, () => false)
addEventListener('hashchange', draw)
let person = server.user?.id
if (keeps) bind(person)
server.onSession(({ reason }) => {
    // A page that was drawn for one person must not act for another one.
    const isAnother = person !== undefined && person !== server.user?.id
    person = server.user?.id
    bind(person)
    if (reason !== 'signIn' || isAnother) draw()
})
draw()
