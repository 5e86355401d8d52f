// Questions with numbers: an amount, a date, a height.
import { h } from './dom.js'
import { answered, blank, declined, decliner, tile } from './said.js'
import { dateFrom, inchesFrom, numberFrom } from './values.js'
import { language, t } from './words.js'

/** A slider, with a field for the same number. */
export function slider(question, given, id) {
    const { min = 0, max = 100, step = 1, minLabel, maxLabel } = question.constraints ?? {}
    const value = given.value ?? question.default
    const number = h('input', {
        type: 'text', inputmode: 'decimal', id, class: 'short', autocomplete: 'off', value: value ?? '', oninput() {
            const typed = numberFrom(number.value, language)
            if (typed !== null) range.value = String(typed)
            if (no) no.input.checked = false
        } })
    const range = h('input', {
        type: 'range', min, max, step, 'aria-label': question.label, oninput() {
            number.value = range.value
            if (no) no.input.checked = false
        } })
    range.value = String(value ?? (min + max) / 2)
    const no = decliner(question, given, id, () => { number.value = '' })
    return {
        nodes: [
            h('div', { class: 'slider' }, range,
                h('div', { class: 'ends' }, h('span', {}, minLabel ?? min), h('span', {}, maxLabel ?? max))),
            h('p', {}, h('label', { for: id }, t('numberBetween', { min, max })), number), no?.node],
        first: number, inputs: [number], read: () => no?.input.checked ? declined : readNumber(number),
    }
}

function readNumber(input) {
    if (!input.value.trim()) return blank
    const value = numberFrom(input.value, language)
    return value === null ? { error: t('notANumber') } : answered(value)
}

/** A field for a number. */
export function number(question, given, id) {
    const input = h('input', {
        type: 'text', inputmode: 'decimal', id, class: 'short', autocomplete: 'off', value: given.value ?? '' })
    const no = decliner(question, given, id, () => { input.value = '' })
    return {
        label: id, nodes: [h('div', { class: 'unit' }, input, question.unit && h('span', {}, question.unit)), no?.node],
        first: input, read: () => no?.input.checked ? declined : readNumber(input),
    }
}

/** A date in three fields. */
export function date(question, given, id) {
    const [y = '', m = '', d = ''] = typeof given.value === 'string' ? given.value.split('-').map(part => part.replace(/^0+/, '')) : []
    const parts = [['day', d, 2], ['month', m, 2], ['year', y, 4]].map(([name, value, length]) => h('input', {
        type: 'text', inputmode: 'numeric', id: `${id}-${name}`, class: `digits-${length}`, value, autocomplete: 'off',
        oninput() { if (no) no.input.checked = false } }))
    const no = decliner(question, given, id, () => parts.forEach(part => { part.value = '' }))
    return {
        nodes: [
            h('p', { class: 'hint' }, t('dateExample')),
            h('div', { class: 'parts' }, ['day', 'month', 'year'].map((name, index) =>
                h('div', {}, h('label', { for: parts[index].id }, t(name)), parts[index]))), no?.node],
        first: parts[0], inputs: parts,
        read() {
            if (no?.input.checked) return declined
            if (parts.every(part => !part.value.trim())) return blank
            const value = dateFrom(...parts.map(part => part.value))
            return value ? answered(value) : { error: t('notADate') }
        },
    }
}

/** A height in centimetres, or in feet and inches. A number in inches is drawn in the same way. */
export function height(question, given, id) {
    const isNumber = question.type === 'number'
    const stands = isNumber ? given.value && { unit: 'in', value: given.value } : given.value
    const isFeet = stands ? stands.unit === 'in' : t('heightUnit') === 'in'
    const inches = stands?.unit === 'in' ? stands.value : null
    const units = [['cm', t('centimetres'), !isFeet], ['in', t('feetAndInches'), isFeet]]
        .map(([unit, label, checked]) => ({ unit, ...tile('radio', `${id}-unit`, unit, label, checked, () => show()) }))
    const part = (name, value, label) => {
        const input = h('input', {
            type: 'text', inputmode: 'decimal', id: `${id}-${name}`, class: 'digits-4', value: value ?? '', autocomplete: 'off',
            oninput() { if (no) no.input.checked = false } })
        return { input, node: h('div', {}, h('label', { for: input.id }, label), input) }
    }
    const cm = part('cm', stands?.unit === 'cm' ? stands.value : '', t('centimetres'))
    const feet = part('feet', inches === null ? '' : Math.floor(inches / 12), t('feet'))
    const rest = part('inches', inches === null ? '' : inches % 12, t('inches'))
    const metric = h('div', { class: 'parts' }, cm.node)
    const imperial = h('div', { class: 'parts' }, feet.node, rest.node)
    const unit = () => units.find(each => each.input.checked).unit
    const show = () => {
        metric.hidden = unit() !== 'cm'
        imperial.hidden = unit() !== 'in'
    }
    show()
    const no = decliner(question, given, id, () => [cm, feet, rest].forEach(each => { each.input.value = '' }))
    return {
        nodes: [h('div', { class: 'tiles row' }, units.map(each => each.node)), metric, imperial, no?.node],
        first: units[isFeet ? 1 : 0].input, inputs: [cm.input, feet.input, rest.input],
        read() {
            if (no?.input.checked) return declined
            const used = unit() === 'cm' ? [cm] : [feet, rest]
            if (used.every(each => !each.input.value.trim())) return blank
            const numbers = used.map(each => numberFrom(each.input.value || '0', language))
            if (numbers.includes(null)) return { error: t('notANumber') }
            if (unit() === 'cm') return answered(isNumber ? inchesFrom(0, numbers[0] / 2.54) : { unit: 'cm', value: numbers[0] })
            const total = inchesFrom(...numbers)
            return answered(isNumber ? total : { unit: 'in', value: total })
        },
    }
}
