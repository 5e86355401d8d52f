// Questions with options: one is chosen, or several.
import { h } from './dom.js'
import { answered, blank, declined, declineLabel, decliner, tile } from './said.js'
import { switched } from './values.js'
import { t } from './words.js'

const manyOptions = 20

/** Radio buttons. */
export function radio(question, given, id) {
    const options = (question.options ?? []).map(option =>
        ({ said: answered(option.key), ...tile('radio', id, option.key, option.label, given.value === option.key) }))
    return choices(question, given, id, options)
}

/** Yes or no. */
export function toggle(question, given, id) {
    const options = [[true, t('yes')], [false, t('no')]].map(([value, label]) =>
        ({ said: answered(value), ...tile('radio', id, String(value), label, given.value === value) }))
    return choices(question, given, id, options)
}

/** Radio buttons, of which the last one may decline. */
function choices(question, given, id, options) {
    const nodes = options.map(option => option.node)
    if (question.declinable) {
        const last = { said: declined, ...tile('radio', id, '', declineLabel(question), Boolean(given.declined)) }
        nodes.push(h('p', { class: 'or' }, t('or')), last.node)
        options = [...options, last]
    }
    return {
        nodes: [h('div', { class: 'tiles' }, nodes)], first: options[0].input, inputs: options.map(option => option.input),
        read: () => options.find(option => option.input.checked)?.said ?? blank,
    }
}

/** A list to open. */
export function select(question, given, id) {
    const options = question.options ?? []
    const input = h('select', { id },
        h('option', { value: '' }, t('choose')),
        options.map((option, index) => h('option', { value: `o${index}`, selected: given.value === option.key }, option.label)),
        question.declinable && h('option', { value: 'declined', selected: Boolean(given.declined) }, declineLabel(question)))
    return {
        label: id, nodes: [input], first: input,
        read: () => input.value === 'declined' ? declined
            : input.value ? answered(options[Number(input.value.slice(1))].key) : blank,
        fill(value) {
            const index = options.findIndex(option => option.key === value)
            input.value = index < 0 ? '' : `o${index}`
        },
    }
}

/** Several options, and entries of the person's own. */
export function chips(question, given, id) {
    const options = question.options ?? []
    const values = Array.isArray(given.value) ? given.value : []
    let chosen = values.filter(value => options.some(option => option.key === value))
    const tiles = options.map(option => tile('checkbox', id, option.key, option.label, chosen.includes(option.key), event => {
        chosen = switched(options, chosen, option.key, event.target.checked)
        if (no) no.input.checked = false
        show()
    }))
    const show = () => tiles.forEach(({ input }, index) => { input.checked = chosen.includes(options[index].key) })
    const others = otherEntries(question, values, id, () => { if (no) no.input.checked = false })
    const no = decliner(question, given, id, () => { chosen = []; others.clear(); show() })
    const list = h('div', { class: options.length > manyOptions ? 'tiles many' : 'tiles' }, tiles.map(each => each.node))
    const { minSelections: least = 0, maxSelections: most } = question.constraints ?? {}
    const how = least > 1 ? 'chooseFrom' : most ? 'chooseUpTo' : 'chooseAll'
    return {
        nodes: [
            h('p', { class: 'hint' }, t(how, { least, most })),
            options.length > manyOptions && finder(id, options, tiles), list, ...others.nodes, no?.node],
        first: tiles[0]?.input ?? others.inputs[0], inputs: tiles.map(each => each.input),
        read() {
            if (no?.input.checked) return declined
            const all = [...chosen, ...others.read()]
            return all.length ? answered(all) : blank
        },
    }
}

/** A field that leaves only the options with some letters. */
function finder(id, options, tiles) {
    const input = h('input', {
        type: 'search', id: `${id}-find`, autocomplete: 'off',
        oninput() {
            const letters = input.value.trim().toLocaleLowerCase()
            tiles.forEach(({ node }, index) => { node.hidden = !options[index].label.toLocaleLowerCase().includes(letters) })
        },
        onkeydown: event => event.key === 'Enter' && event.preventDefault(),
    })
    return h('p', { class: 'find' }, h('label', { for: input.id }, t('find')), input)
}

/** Fields for entries of the person's own. */
function otherEntries(question, values, id, onchange) {
    const most = question.constraints?.other?.maxCount ?? 0
    const own = values.filter(value => value?.other !== undefined).map(value => value.other)
    const inputs = Array.from({ length: most }, (_, index) => h('input', {
        type: 'text', id: `${id}-other-${index}`, value: own[index] ?? '', oninput: onchange, autocomplete: 'off' }))
    return {
        inputs,
        nodes: inputs.map((input, index) => h('p', {}, h('label', { for: input.id }, t('other', { number: index + 1 })), input)),
        read: () => inputs.map(input => input.value.trim()).filter(Boolean).map(other => ({ other })),
        clear: () => inputs.forEach(input => { input.value = '' }),
    }
}
