// Draws a question by its control, and reads what the person says. It knows no question by its key.
import { button, h, hidden } from './dom.js'
import { search } from './server.js'
import { codeFrom, dateFrom, graphemes, inchesFrom, moved, numberFrom, switched } from './values.js'
import { t } from './words.js'

/**
 * @typedef {object} Given What the person has said so far.
 * @property {unknown} [value]
 * @property {boolean} [declined]
 */

/**
 * @typedef {{state: 'answered', value?: unknown, file?: File} | {state: 'declined' | 'blank' | 'acknowledged'} | {error: string}} Said
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
const manyOptions = 20
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

const blank = { state: 'blank' }
const declined = { state: 'declined' }
const answered = value => ({ state: 'answered', value })

/** The words for declining, if the question may be declined. */
const declineLabel = question => question.declinable && (question.declineLabel ?? t('decline'))

function tile(type, name, value, label, checked, onchange) {
    const input = h('input', { type, name, value, checked, onchange })
    return { input, node: h('label', { class: 'tile' }, input, h('span', {}, label)) }
}

/** A switch for declining below a control that is no list of options. It empties the control. */
function decliner(question, given, id, clear) {
    if (!question.declinable) return null
    const { input, node } = tile('checkbox', `${id}-decline`, 'declined', declineLabel(question), Boolean(given.declined),
        () => input.checked && clear())
    return { input, node: h('div', { class: 'or' }, h('p', {}, t('or')), node) }
}

function radio(question, given, id) {
    const options = (question.options ?? []).map(option =>
        ({ said: answered(option.key), ...tile('radio', id, option.key, option.label, given.value === option.key) }))
    return choices(question, given, id, options)
}

function toggle(question, given, id) {
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

function select(question, given, id) {
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

function chips(question, given, id) {
    const options = question.options ?? []
    const values = Array.isArray(given.value) ? given.value : []
    let chosen = values.filter(value => typeof value === 'string')
    const tiles = options.map(option => tile('checkbox', id, option.key, option.label, chosen.includes(option.key),
        event => { chosen = switched(options, chosen, option.key, event.target.checked); no?.input && (no.input.checked = false); show() }))
    const show = () => tiles.forEach(({ input }, index) => { input.checked = chosen.includes(options[index].key) })
    const others = otherEntries(question, values, id, () => no && (no.input.checked = false))
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

function ranking(question, given, id) {
    const options = question.options ?? []
    const first = Array.isArray(given.value) ? given.value : []
    let order = [...first, ...options.map(option => option.key).filter(key => !first.includes(key))]
    const labels = Object.fromEntries(options.map(option => [option.key, option.label]))
    const count = question.constraints?.topK ?? options.length
    const status = h('p', { role: 'status', class: 'hidden' })
    const items = new Map(order.map(key => {
        const label = labels[key] ?? key
        const buttons = [[-1, 'up', '↑'], [1, 'down', '↓']].map(([by, word, sign]) => {
            const made = button('', () => move(key, by), { class: 'secondary move' })
            made.append(h('span', { 'aria-hidden': 'true' }, sign), hidden(t(word, { label })))
            return made
        })
        return [key, h('li', {}, h('span', { class: 'rank', 'aria-hidden': 'true' }), h('span', { class: 'what' }, label), ...buttons)]
    }))
    const list = h('ol', { class: 'ranking' })
    function show() {
        order.forEach((key, index) => {
            const item = items.get(key)
            item.classList.toggle('beyond', index >= count)
            item.firstChild.textContent = index < count ? String(index + 1) : ''
            const [up, down] = item.querySelectorAll('button')
            up.setAttribute('aria-disabled', String(index === 0))
            down.setAttribute('aria-disabled', String(index === order.length - 1))
        })
    }
    function move(key, by) {
        const before = order
        order = moved(order, order.indexOf(key), by)
        const index = order.indexOf(key)
        if (index === before.indexOf(key)) return
        // The neighbour moves in the page, so that the pressed button keeps the focus.
        const neighbour = items.get(before[index])
        if (by < 0) items.get(key).after(neighbour)
        else items.get(key).before(neighbour)
        show()
        status.textContent = t('ranked', { label: labels[key], place: index + 1, of: order.length })
    }
    list.append(...order.map(key => items.get(key)))
    show()
    const no = decliner(question, given, id, () => {})
    return {
        nodes: [h('p', { class: 'hint' }, count < options.length ? t('rankTop', { count }) : t('rankAll')), list, status, no?.node],
        first: list.querySelector('button') ?? list, inputs: [...list.querySelectorAll('button')],
        read: () => no?.input.checked ? declined : answered(order.slice(0, count)),
    }
}

function slider(question, given, id) {
    const { min = 0, max = 100, step = 1, minLabel, maxLabel } = question.constraints ?? {}
    const value = given.value ?? question.default
    const number = h('input', {
        type: 'text', inputmode: 'decimal', id, class: 'short', autocomplete: 'off', value: value ?? '', oninput() {
            const typed = numberFrom(number.value)
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
            h('div', { class: 'slider' }, range, h('div', { class: 'ends' }, h('span', {}, minLabel ?? min), h('span', {}, maxLabel ?? max))),
            h('p', {}, h('label', { for: id }, t('numberBetween', { min, max })), number), no?.node],
        first: number, inputs: [number], read: () => no?.input.checked ? declined : readNumber(number),
    }
}

function readNumber(input) {
    if (!input.value.trim()) return blank
    const value = numberFrom(input.value)
    return value === null ? { error: t('notANumber') } : answered(value)
}

function number(question, given, id) {
    const input = h('input', {
        type: 'text', inputmode: 'decimal', id, class: 'short', autocomplete: 'off', value: given.value ?? '' })
    const no = decliner(question, given, id, () => { input.value = '' })
    return {
        label: id, nodes: [h('div', { class: 'unit' }, input, question.unit && h('span', {}, question.unit)), no?.node],
        first: input, read: () => no?.input.checked ? declined : readNumber(input),
    }
}

function text(question, given, id, how) {
    const most = question.constraints?.maxLength
    const isArea = question.control === 'text_area'
    const input = h(isArea ? 'textarea' : 'input', {
        type: isArea ? null : 'text', rows: isArea ? 6 : null, id, value: given.value ?? '',
        inputmode: question.constraints?.format === 'digits' ? 'numeric' : question.constraints?.format === 'https_url' ? 'url' : null,
        autocomplete: how.lookup ? 'off' : null,
        oninput() {
            if (no) no.input.checked = false
            count()
        } })
    const left = isArea && most && h('p', { class: 'hint', id: `${id}-left` })
    const count = () => left && (left.textContent = t('lettersOf', { count: graphemes(input.value), most }))
    count()
    const no = decliner(question, given, id, () => { input.value = ''; count() })
    const found = how.lookup ? finderOfPlaces(input, how.lookup, how.onFound) : []
    return {
        label: id, nodes: [input, left, ...found, no?.node], first: input, fill: value => { input.value = value ?? '' },
        read: () => no?.input.checked ? declined : input.value.trim() ? answered(input.value.trim()) : blank,
    }
}

/** What a search finds while the person types, as buttons below the field. */
function finderOfPlaces(input, lookup, onFound) {
    const status = h('p', { role: 'status', class: 'hint' })
    const list = h('ul', { class: 'found' })
    let asked = 0
    input.addEventListener('input', async () => {
        const mine = ++asked
        const query = input.value.trim()
        const answer = query.length > 1 ? await search(lookup.path, { [lookup.parameter]: query, limit: 5 }).catch(() => ({})) : {}
        if (mine !== asked) return
        const results = Object.values(answer).find(Array.isArray) ?? []
        status.textContent = query.length > 1 ? t('found', { count: results.length }) : ''
        list.replaceChildren(...results.map(result => h('li', {}, button(
            lookup.fills.map(fill => result[fill.member]).filter(Boolean).join(', '), () => {
                asked += 1
                onFound(result)
                list.replaceChildren()
                status.textContent = ''
                input.focus()
            }))))
    })
    return [status, list]
}

function date(question, given, id) {
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
function height(question, given, id) {
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
            const numbers = used.map(each => numberFrom(each.input.value || '0'))
            if (numbers.includes(null)) return { error: t('notANumber') }
            if (unit() === 'cm') return answered(isNumber ? inchesFrom(0, numbers[0] / 2.54) : { unit: 'cm', value: numbers[0] })
            const total = inchesFrom(...numbers)
            return answered(isNumber ? total : { unit: 'in', value: total })
        },
    }
}

function upload(question, given, id) {
    const input = h('input', { type: 'file', id, accept: 'image/*' })
    const isShown = typeof given.value === 'string' && given.value.startsWith('http')
    return {
        label: id, nodes: [isShown && h('img', { src: given.value, alt: t('yourPhoto'), class: 'photo' }), input],
        first: input,
        read: () => input.files[0] ? { state: 'answered', file: input.files[0] } : blank,
    }
}

const controls = { radio, select, chips, ranking, slider, number, text, text_area: text, date, height, switch: toggle, upload }

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
