// A list that the person puts in order, by buttons.
import { button, h, hidden } from './dom.js'
import { answered, declined, decliner } from './said.js'
import { moved } from './values.js'
import { t } from './words.js'

/** Options to put in order. Where only the first few count, the rest is marked. */
export function ranking(question, given, id) {
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
