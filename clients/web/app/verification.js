// Verification by a photo of the face, or by a document: consent, pictures, verdict.
import { button, h, link } from './dom.js'
import { draw } from './fields.js'
import { acting } from './page.js'
import { sendPicture } from './photos.js'
import { go, replace } from './routes.js'
import { problemOf, server } from './server.js'
import { keep, kept } from './store.js'
import { t } from './words.js'

/** The version of the app's words about consent. Change it with them. */
const consentVersion = '2026-11'

const tiers = {
    verification: {
        consent: 'biometric', begin: call => server.beginVerification(call), withdraw: () => server.withdrawVerificationConsent(),
        sides: [{ key: 'photo', capture: 'user', required: true }],
    },
    document: {
        consent: 'document', begin: call => server.beginDocumentVerification(call), withdraw: () => server.withdrawDocumentConsent(),
        sides: [{ key: 'front', capture: 'environment', required: true }, { key: 'back', capture: 'environment' }],
    },
}
const again = ['liveness_failed', 'quality_too_low', 'inconclusive', 'expired', 'rejected', 'declined']

/** The routes of a tier: consent, pictures, verdict. */
const routesOf = name => [
    [`/${name}`, () => consent(name)], [`/${name}/pictures`, () => capture(name)],
    [`/${name}/result`, (_, signal) => result(name, signal)],
]

/** The pages of the verification by a photo. */
export const verificationRoutes = routesOf('verification')

/** The pages of the verification by a document. */
export const documentRoutes = routesOf('document')

function consent(name) {
    if (kept(name)) return { go: `/${name}/result` }
    const tier = tiers[name]
    return {
        title: t(`${name}Title`),
        content: [
            h('p', {}, t(`${name}Text`)),
            h('ul', {}, ['examined', 'destroyed', 'withdrawn'].map(each => h('li', {}, t(`${name}_${each}`))))],
        action: t('agree'), fields: [],
        submit: () => begin(name, { consent: { [tier.consent]: true, textVersion: consentVersion, at: new Date().toISOString() } }),
        further: [button(t('notNow'), acting(() => begin(name, {})))],
    }
}

async function begin(name, body) {
    const begun = await tiers[name].begin({ body })
    if (begun.status === 'declined') return go('/')
    keep(name, { sessionId: begun.sessionId, prompts: begun.prompts, message: begun.message, hasProvider: Boolean(begun.provider) })
    go(begun.status === 'awaiting_capture' ? `/${name}/pictures` : `/${name}/result`)
}

function capture(name) {
    const session = kept(name)
    if (!session?.sessionId) return { go: `/${name}` }
    if (session.hasProvider) {
        return { title: t(`${name}Title`), content: [h('p', {}, t('needsTheApp'))], further: [link(t('goOn'), '/done')] }
    }
    const { sides } = tiers[name]
    const fields = sides.map(side => {
        const field = draw({ key: side.key, type: 'text', control: 'upload', label: t(`side_${side.key}`), required: side.required })
        field.element.querySelector('input').setAttribute('capture', side.capture)
        return { ...field, required: side.required && t('choosePicture') }
    })
    return {
        title: session.message, content: [h('ul', {}, session.prompts.map(prompt => h('li', {}, prompt.text)))], fields,
        action: t('sendPicture'),
        async submit(said) {
            for (const { key } of sides) {
                const side = key === 'photo' ? {} : { side: key }
                const ask = about => server.addCapture({ session: session.sessionId, body: { ...side, ...about } })
                if (said[key].file) await sendPicture(said[key].file, ask)
            }
            await server.completeVerification({ session: session.sessionId })
            go(`/${name}/result`)
        },
        further: [button(t('stopVerification'), acting(async () => {
            await tiers[name].withdraw()
            keep(name, undefined)
            go('/done')
        }))],
    }
}

/** The verdict, as soon as there is one. */
async function result(name, signal) {
    const session = kept(name)
    if (!session) return { go: `/${name}` }
    if (!session.sessionId) return noSession(name, session)
    const view = await server.getVerification({ session: session.sessionId }).catch(error => {
        if (problemOf(error)?.code !== 'not_found') throw error
    })
    if (!view) {
        // Another session took its place, perhaps on another device.
        keep(name, undefined)
        return { go: `/${name}` }
    }
    if (view.status === 'processing') return processing(view, name, signal)
    if (view.status === 'awaiting_capture') return { go: `/${name}/pictures` }
    const mayTry = again.includes(view.status) && view.attemptsLeft > 0
    if (view.status === 'verified' || mayTry) keep(name, undefined)
    return {
        title: view.message, action: t(mayTry ? 'tryAgain' : 'continue'), fields: [],
        submit: async () => go(mayTry ? `/${name}` : view.status === 'verified' ? '/' : '/done'),
        further: mayTry ? [link(t('notNow'), '/done')] : [],
    }
}

/** Why no session began, such as that the person is verified already. */
function noSession(name, { message }) {
    keep(name, undefined)
    return { title: message, fields: [], submit: async () => go('/done') }
}

/** The page while a picture is examined. It looks again by itself, each second for half a minute. */
function processing(view, name, signal) {
    const look = () => replace(`/${name}/result`)
    const { sessionId } = kept(name)
    async function wait() {
        for (let seconds = 0; seconds < 30 && !signal.aborted; seconds++) {
            await new Promise(resolve => setTimeout(resolve, 1000))
            const now = await server.getVerification({ session: sessionId, signal }).catch(() => view)
            if (now.status !== 'processing' && !signal.aborted) return look()
        }
    }
    wait()
    return { title: view.message, action: t('lookAgain'), fields: [], submit: async () => look(), further: [link(t('goOn'), '/done')] }
}
