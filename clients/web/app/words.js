// The words of the app itself. Everything else comes from the server in the same language.
import { storage } from './store.js'
import en from './words.en.js'
import sv from './words.sv.js'

const words = { en, sv }
const stored = 'vestibule.language'

/** The languages of the app, each in its own words. */
export const languages = { en: 'English', sv: 'Svenska' }

/** The language that is shown now: the one that the person chose, else the first one of the browser that the app has. */
export let language = storage?.getItem(stored)
    ?? navigator.languages.map(tag => tag.split('-')[0]).find(tag => tag in words) ?? 'en'
if (!(language in words)) language = 'en'

/** Shows another language from now on. */
export function choose(chosen) {
    language = chosen
    storage?.setItem(stored, chosen)
}

/**
 * A text of the app, with values in place of `{name}`. A text with a form for `one` chooses it by `count`.
 *
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
    const text = words[language][key]
    const form = typeof text === 'string' ? text : text[new Intl.PluralRules(language).select(Number(values.count))] ?? text.other
    return form.replace(/\{(\w+)\}/g, (_, name) => String(values[name]))
}

/** The words for a value of the server, such as a status. A value that a later release adds has those of `other`. */
export const named = (kind, value) => t(`${kind}_${value}` in words[language] ? `${kind}_${value}` : `${kind}_other`)

/** A moment as a person reads it. */
export const moment = text => new Date(text).toLocaleString(language, { dateStyle: 'long', timeStyle: 'short' })

/** A day as a person reads it. */
export const day = text => new Date(`${text.slice(0, 10)}T00:00:00Z`).toLocaleDateString(language, { dateStyle: 'long', timeZone: 'UTC' })
