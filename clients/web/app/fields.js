// Draws a question by its control, and reads what the person says. It knows no question by its key.
import { date, height, number, slider } from './amounts.js'
import { chips, radio, select, toggle } from './choices.js'
import { h, hidden } from './dom.js'
import { ranking } from './ranking.js'
import { answered } from './said.js'
import { text, upload } from './texts.js'
import { codeFrom } from './values.js'
import { t } from './words.js'

/**
 * @typedef {object} Given What the person has said so far.
 * @property {unknown} [value]
 * @property {boolean} [declined]
 */

/**
 * @typedef {{state: 'answered', value?: unknown, file?: File} | {state: 'declined' | 'blank' | 'acknowledged'} | {error: string}
 *     | {state: 'kept'}} Said `kept`: the picture of before stays.
 */

/**
 * @typedef {object} Field
 * @property {string} key
 * @property {HTMLElement} element
 * @property {() => Said} read
 * @property {(message: string) => void} fail Shows an error at the field.
 * @property {() => void} focus
 * @property {(said: Record<string, unknown>) => void} [fill] Shows a value that another field has found.
 */

const byType = {
    single_choice: 'radio', multi_choice: 'chips', tags: 'chips', ranking: 'ranking', slider: 'slider', number: 'number',
    text: 'text', date: 'date', height: 'height', boolean: 'switch', info: 'screen',
}
const controls = { radio, select, chips, ranking, slider, number, text, text_area: text, date, height, switch: toggle, upload }
let drawn = 0

/** Whether this app can draw the question. */
export const isKnown = question => Boolean(controlOf(question))

function controlOf(question) {
    const isMulti = ['multi_choice', 'tags'].includes(question.type)
    if (question.control === 'select' && isMulti) return chips
    if (question.unit === 'in' && question.type === 'number') return height
    return controls[question.control] ?? controls[byType[question.type]]
}

/**
 * Draws a question.
 *
 * @param {object} question as a view has it
 * @param {Given} given
 * @param {{isTitle?: boolean, lookup?: object, onFound?: (city: object) => void}} how `isTitle`: the question is the page's title.
 * @returns {Field}
 */
export function draw(question, given = {}, how = {}) {
    const id = `field-${++drawn}`
    const part = controlOf(question)(question, given, id, how)
    const hint = question.help && h('p', { id: `${id}-hint`, class: 'hint' }, question.help)
    const error = h('p', { id: `${id}-error`, class: 'error', hidden: true })
    const optional = question.required || question.type === 'info' ? '' : ` (${t('optional')})`
    const title = [question.label, optional && h('span', { class: 'optional' }, optional)]
    const described = () => [hint && hint.id, !error.hidden && error.id].filter(Boolean).join(' ') || null
    const group = part.label
        ? h('div', {},
            h(how.isTitle ? 'h1' : 'p', { class: how.isTitle ? null : 'label', tabindex: how.isTitle && -1 },
                h('label', { for: part.label }, ...title)),
            hint, error, ...part.nodes)
        : h('fieldset', {},
            h('legend', {}, how.isTitle ? h('h1', { tabindex: -1 }, ...title) : h('span', { class: 'label' }, ...title)),
            hint, error, ...part.nodes)
    const owner = h('div', { class: 'field' }, group)
    const inputs = part.inputs ?? [part.first]
    const describe = () => {
        const target = part.label ? inputs[0] : group
        if (described()) target.setAttribute('aria-describedby', described())
        else target.removeAttribute('aria-describedby')
    }
    describe()
    return {
        key: question.key,
        element: owner,
        read: part.read,
        fill: part.fill,
        focus: () => part.first.focus(),
        fail(message) {
            error.replaceChildren(hidden(`${t('error')}: `), message)
            error.hidden = false
            owner.classList.add('failed')
            for (const input of inputs) if (input.matches('input, select, textarea')) input.setAttribute('aria-invalid', 'true')
            describe()
        },
    }
}

/**
 * A field for a code of one use: one field for the whole code, which the platform may fill in at once.
 *
 * @param {string} label
 * @param {number} length how many digits a code has
 * @returns {Field}
 */
export function codeField(label, length) {
    const field = draw({ key: 'code', type: 'text', control: 'text', label, help: t('codeHelp', { length }), required: true })
    const input = field.element.querySelector('input')
    input.setAttribute('inputmode', 'numeric')
    input.setAttribute('autocomplete', 'one-time-code')
    input.classList.add('code')
    return {
        ...field,
        read() {
            const code = codeFrom(input.value)
            return code.length === length ? answered(code) : { error: t('codeLength', { length }) }
        },
    }
}

/**
 * A field of one line that belongs to no question, such as a number to sign in with.
 *
 * @param {string} key
 * @param {string} label
 * @param {Record<string, string>} attributes of the input
 * @param {string} [help]
 * @returns {Field}
 */
export function lineField(key, label, attributes, help) {
    const field = draw({ key, type: 'text', control: 'text', label, help, required: true })
    const input = field.element.querySelector('input')
    for (const [name, value] of Object.entries(attributes)) {
        if (name === 'value') input.value = value
        else input.setAttribute(name, value)
    }
    return field
}

/** A field of one line whose label is the title of the page. */
export function titled(field) {
    const label = field.element.querySelector('.label')
    label.replaceWith(h('h1', { tabindex: -1 }, ...label.childNodes))
    return field
}
