// Puts one page on the screen: header, title, fields, errors, buttons. Pages say what they have; this file draws it.
import { h, hidden, link } from './dom.js'
import { choose, language, languages, t } from './words.js'

/**
 * @typedef {object} Page
 * @property {string} title The first heading, unless a field of the page is the title.
 * @property {string} [back] The route of the page before.
 * @property {string} [caption] Where the person is, above the title.
 * @property {{value: number, max: number}} [progress]
 * @property {Node[]} [content] What stands above the fields.
 * @property {import('./fields.js').Field[]} [fields]
 * @property {boolean} [isQuestion] The first field is the title.
 * @property {(said: Record<string, import('./fields.js').Said>) => Promise<Failure[] | void>} [submit]
 * @property {string} [action] The words of the button that submits; `Continue` without it.
 * @property {Node} [below] What stands between the fields and the button.
 * @property {Node[]} [further] What stands behind the button.
 * @property {Failure[]} [failures] What is wrong from the start.
 * @property {string} [locale] The language of the content, if it is not the app's.
 */

/** @typedef {{key?: string, message: string, route?: string}} Failure */

let frame
let isFirst = true
/** Does something of the page that is shown, and shows what is wrong with it. */
let run

/** A listener that does something of the page: what goes wrong is told as for a form. */
export const acting = act => () => run(act)

/**
 * Draws the frame around all pages.
 *
 * @param {{onLanguage: () => void}} does
 */
export function start({ onLanguage }) {
    const main = h('main', { id: 'main', tabindex: -1 })
    const skip = h('a', { href: '#main', class: 'skip', onclick(event) { event.preventDefault(); main.focus() } })
    const banner = h('div', { role: 'status', class: 'banner', hidden: true })
    const wait = h('div', { role: 'status', class: 'banner', hidden: true })
    const nav = h('nav', {})
    const switches = h('div', { class: 'languages' })
    frame = { main, skip, banner, wait, nav, switches, onLanguage }
    document.body.replaceChildren(skip, h('header', {}, link('Vestibule', '/', { class: 'brand' }), nav, switches), banner, wait, main)
}

/** The links of the header: for somebody who is signed in, or for nobody. */
function drawHeader(isSignedIn) {
    document.documentElement.lang = language
    frame.skip.textContent = t('skipToMain')
    frame.nav.setAttribute('aria-label', t('menu'))
    frame.nav.replaceChildren(...(isSignedIn ? [link(t('saveAndExit'), '/saved'), link(t('account'), '/account')] : []))
    frame.switches.replaceChildren(...Object.entries(languages).filter(([key]) => key !== language).map(([key, name]) =>
        h('button', { type: 'button', class: 'link', lang: key, onclick() { choose(key); frame.onLanguage() } }, name)))
}

/** Shows, or hides, what the person must know about the connection. */
export function showBanner(text) {
    frame.banner.hidden = !text
    frame.banner.textContent = text ?? ''
}

/** Tells the person while something takes longer than a second. */
export async function patiently(work) {
    const timer = setTimeout(() => {
        frame.wait.hidden = false
        frame.wait.textContent = t('oneMoment')
    }, 1000)
    try {
        return await work
    } finally {
        clearTimeout(timer)
        frame.wait.hidden = true
    }
}

/**
 * Shows a page in place of the one before.
 *
 * @param {Page} page
 * @param {boolean} isSignedIn
 * @param {(act: () => Promise<Failure[] | void>, keys: string[]) => Promise<Failure[] | void>} attempt Does something, and answers
 *     what went wrong; `keys` are those of the fields.
 */
export function show(page, isSignedIn, attempt) {
    drawHeader(isSignedIn)
    const fields = page.fields ?? []
    let summary = h('div', { hidden: true })
    const submit = h('button', { type: 'submit' }, page.action ?? t('continue'))
    const form = page.submit && h('form', { novalidate: true, onsubmit }, fields.map(field => field.element), page.below, submit)
    const bar = page.progress && h('progress', {
        value: page.progress.value, max: page.progress.max, 'aria-label': t('progress'),
    }, `${page.progress.value}/${page.progress.max}`)
    const title = !page.isQuestion && h('h1', { tabindex: -1 }, page.title)
    frame.main.lang = page.locale ?? language
    frame.main.replaceChildren(...[
        bar, page.back && link(t('back'), page.back, { class: 'back' }), summary,
        page.caption && h('p', { class: 'caption' }, page.caption), title, ...(page.content ?? []),
        form, page.further && h('div', { class: 'further' }, page.further),
    ].filter(Boolean))
    document.title = `${page.title} – Vestibule`
    scrollTo(0, 0)
    if (page.failures?.length) fail(page.failures)
    else if (!isFirst) frame.main.querySelector('h1')?.focus()
    isFirst = false
    let isBusy = false
    run = async act => {
        if (isBusy) return
        isBusy = true
        submit.setAttribute('aria-busy', 'true')
        const failures = await patiently(attempt(act, fields.map(field => field.key)))
        isBusy = false
        submit.removeAttribute('aria-busy')
        if (failures?.length) fail(failures)
    }

    function onsubmit(event) {
        event.preventDefault()
        const said = Object.fromEntries(fields.map(field => [field.key, field.read()]))
        const failures = fields.flatMap(field => {
            const { error, state } = said[field.key]
            if (error) return [{ key: field.key, message: error }]
            return state === 'blank' && field.required ? [{ key: field.key, message: field.required }] : []
        })
        if (failures.length) fail(failures)
        else run(() => page.submit(said))
    }

    function fail(failures) {
        frame.main.querySelectorAll('.failed').forEach(element => {
            element.classList.remove('failed')
            element.querySelector('.error').hidden = true
            element.querySelectorAll('[aria-invalid]').forEach(input => input.removeAttribute('aria-invalid'))
        })
        const lines = failures.map(({ key, message, route }) => {
            const field = fields.find(each => each.key === key)
            field?.fail(message)
            if (route) return h('li', {}, link(message, route))
            if (!field) return h('li', {}, message)
            return h('li', {}, h('a', { href: '#main', onclick(event) { event.preventDefault(); field.focus() } }, message))
        })
        const told = h('div', { class: 'summary', role: 'alert', tabindex: -1 }, h('h2', {}, t('thereIsAProblem')), h('ul', {}, lines))
        summary.replaceWith(told)
        summary = told
        document.title = `${t('error')}: ${page.title} – Vestibule`
        summary.focus()
    }
}

/** A list of facts, each with what can be done about it. */
export const facts = rows => h('dl', { class: 'facts' }, rows.map(({ name, texts, route, action }) => h('div', {},
    h('dt', {}, name), h('dd', {}, texts.length ? texts.map(text => h('p', {}, text)) : h('p', { class: 'hint' }, t('notAnswered'))),
    route && h('dd', { class: 'change' }, link([action ?? t('change'), hidden(` ${name}`)], route)))))
