// What a person may say to any question, and how they decline.
import { h } from './dom.js'
import { t } from './words.js'

export const blank = { state: 'blank' }
export const declined = { state: 'declined' }
export const answered = value => ({ state: 'answered', value })

/** The words for declining, if the question may be declined. */
export const declineLabel = question => question.declinable && (question.declineLabel ?? t('decline'))

/** An option that is as large as its line. */
export function tile(type, name, value, label, checked, onchange) {
    const input = h('input', { type, name, value, checked, onchange })
    return { input, node: h('label', { class: 'tile' }, input, h('span', {}, label)) }
}

/** A switch for declining below a control that is no list of options. It empties the control. */
export function decliner(question, given, id, clear) {
    if (!question.declinable) return null
    const { input, node } = tile('checkbox', `${id}-decline`, 'declined', declineLabel(question), Boolean(given.declined),
        () => input.checked && clear())
    return { input, node: h('div', { class: 'or' }, h('p', {}, t('or')), node) }
}
