// The visual preferences: two pictures at a time, and a choice.
import { button, h } from './dom.js'
import { acting } from './page.js'
import { go, replace } from './routes.js'
import { isOffline, problemOf, server } from './server.js'
import { keep, kept } from './store.js'
import { day, t } from './words.js'

/** The longest time for a choice that the server takes: a page may lie open for days. */
const longestMs = 86_400_000

/** The page with the next two pictures. */
export async function pictures() {
    const session = (await sendChoices().catch(keepOffline)) ?? kept('pictures')?.session ?? await server.getVisualSession()
    keep('pictures', undefined)
    const [pair, ...rest] = session.comparisons
    if (!pair && session.newSessionAt) return unclear(session)
    if (!pair) return { go: '/' }
    for (const { left, right } of rest) for (const { imageUrl } of [left, right]) new Image().src = imageUrl
    const began = performance.now()

    async function choose(choice) {
        const made = {
            presentationId: pair.presentationId, choice, mutationId: crypto.randomUUID(),
            latencyMs: Math.min(longestMs, Math.round(performance.now() - began)) }
        const before = kept('choices')?.choices.filter(each => each.presentationId !== pair.presentationId) ?? []
        keep('choices', { sessionId: session.sessionId, choices: [...before, made] })
        const next = await sendChoices().catch(keepOffline)
        if (next) keep('pictures', { session: next })
        else if (rest.length) keep('pictures', { session: { ...session, answered: session.answered + 1, comparisons: rest } })
        else return [{ message: t('offline') }]
        replace('/pictures')
    }

    const side = (item, choice, words) => h('li', {}, h('button', { type: 'button', class: 'picture', onclick: acting(() => choose(choice)) },
        h('img', { src: item.imageUrl, alt: item.alt, width: 240, height: 240 }), h('span', {}, t(words))))
    return {
        title: t('picturesTitle'), caption: t('pair', { number: session.answered + 1, of: session.total }),
        progress: { value: session.answered, max: session.total },
        content: [
            h('p', {}, t('picturesText')),
            h('ul', { class: 'pictures' }, side(pair.left, 'left', 'chooseLeft'), side(pair.right, 'right', 'chooseRight')),
            button(t('neither'), acting(() => choose('neither')), { class: 'secondary wide' }),
        ],
        further: [button(t('later'), acting(async () => {
            await server.saveVisualChoices({ body: { sessionId: session.sessionId, defer: true } })
            go('/')
        }))],
    }
}

/** The end of choices that do not agree with each other. */
const unclear = ({ newSessionAt }) => ({
    title: t('picturesUnclear'), content: [h('p', {}, t('picturesAgain', { day: day(newSessionAt) }))], fields: [],
    submit: async () => go('/'),
})

/** Choices stay on this device while there is no network. */
function keepOffline(error) {
    if (!isOffline(error)) throw error
    return undefined
}

/**
 * Sends the choices that were kept. Those that the server does not take, or that a session which was begun anew has no use for, are
 * given up: the person is asked again.
 *
 * @returns the session after them; `undefined` if there was nothing to send
 */
async function sendChoices() {
    const waiting = kept('choices')
    if (!waiting) return undefined
    try {
        const { session } = await server.saveVisualChoices({ body: waiting })
        keep('choices', undefined)
        return session
    } catch (error) {
        const problem = problemOf(error)
        if (problem?.code !== 'not_found' && problem?.status !== 422) throw error
        keep('choices', undefined)
        return server.getVisualSession()
    }
}
