// Questions with a text, and with a picture.
import { button, h } from './dom.js'
import { answered, blank, declined, decliner } from './said.js'
import { search } from './server.js'
import { graphemes } from './values.js'
import { t } from './words.js'

/** A field of one line, or of several. It may search while the person types. */
export function text(question, given, id, how) {
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

/** A picture from this device. */
export function upload(question, given, id) {
    const input = h('input', { type: 'file', id, accept: 'image/*' })
    const isShown = typeof given.value === 'string' && given.value.startsWith('http')
    const photo = isShown && new URL(given.value)
    // Enough for the 12 rem at which it is shown, on a phone's fine screen, too.
    if (photo) photo.searchParams.set('size', 'medium')
    return {
        label: id, nodes: [photo && h('img', { src: photo.href, alt: t('yourPhoto'), class: 'photo' }), input],
        first: input,
        read: () => input.files[0] ? { state: 'answered', file: input.files[0] } : given.value ? { state: 'kept' } : blank,
    }
}
