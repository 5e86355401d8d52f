// An account without the phone that it had: the claimant's side.
import { asSent, codePage, codesPanel, resend } from './codes.js'
import { button, h, link } from './dom.js'
import { codeField, draw, lineField, titled } from './fields.js'
import { acting } from './page.js'
import { sendPicture } from './photos.js'
import { go, replace } from './routes.js'
import { device, server } from './server.js'
import { welcome } from './sign-in.js'
import { keep, kept } from './store.js'
import { moment, named, t } from './words.js'

/** The pages of a recovery. Nobody is signed in there. */
export const recoveryRoutes = [
    ['/recovery', begin], ['/recovery/number', number], ['/recovery/code', code], ['/recovery/status', status],
    ['/recovery/evidence', evidence], ['/recovery/complete', complete],
]
const statuses = ['held', 'identity_required', 'in_review', 'approved', 'completing', 'completed', 'rejected', 'cancelled', 'expired']
const over = ['completed', 'rejected', 'cancelled', 'expired']
/** What the person does at a status: the words of the button, and the page. */
const acts = { identity_required: ['giveEvidence', '/recovery/evidence'], approved: ['completeRecovery', '/recovery/complete'] }
/** The account by its number, or by its email address. */
const accountOf = text => text.includes('@') ? { accountEmail: text } : { accountPhone: text }

/** A page with one line to fill in. */
function linePage(field, missing, back, submit) {
    return {
        title: field.element.querySelector('label').textContent, isQuestion: true, caption: t('recovery'), back,
        fields: [{ ...titled(field), required: t(missing) }], submit: said => submit(said[field.key].value),
    }
}

function begin() {
    if (kept('recovery')) return { go: '/recovery/status' }
    const field = lineField('account', t('recoveryAccount'), { autocomplete: 'username' }, t('recoveryAccountHelp'))
    return linePage(field, 'enterAccount', '/sign-in', async account => {
        keep('claim', { account, until: Date.now() + 1_800_000 })
        go('/recovery/number')
    })
}

function number() {
    const claim = kept('claim')
    if (!claim) return { go: '/recovery' }
    const input = { type: 'tel', autocomplete: 'tel', value: claim.to ?? '' }
    const field = lineField('phone', t('recoveryNumber'), input, t('recoveryNumberHelp'))
    return linePage(field, 'enterPhone', '/recovery', to => sendClaimCode({ ...claim, to }))
}

async function sendClaimCode(claim) {
    const sent = asSent(await server.sendOTP({ body: { phone: claim.to, purpose: 'recovery', ...accountOf(claim.account) } }))
    keep('claim', { ...claim, sent })
    go('/recovery/code')
}

function code(_, signal) {
    const claim = kept('claim')
    if (!claim?.sent) return { go: '/recovery' }
    return codePage({
        sent: claim.sent, to: claim.to, back: '/recovery/number', again: () => sendClaimCode(claim),
        async submit(code) {
            const asked = await server.requestRecovery({ body: {
                ...accountOf(claim.account), challengeId: claim.sent.challengeId, code, device: device() } })
            keep('recovery', { id: asked.recoveryId, token: asked.recoveryToken, secret: asked.deviceSecret, to: claim.to })
            keep('claim', undefined)
            go('/recovery/status')
        },
    }, signal)
}

/** How far the recovery is, and what the person can do about it. */
async function status() {
    const claim = kept('recovery')
    if (!claim) return { go: '/recovery' }
    const found = await server.getRecoveryCase({ recovery: claim.id, token: claim.token })
    const known = statuses.includes(found.status) ? found.status : 'in_review'
    const [words, next] = acts[known] ?? [over.includes(known) ? 'signIn' : 'lookAgain', null]
    return {
        title: t(`recovery_${known}`), caption: t('recovery'),
        content: [
            h('p', {}, t(`recovery_${known}_text`, { until: moment(found.holdUntil) })),
            h('ol', { class: 'steps' }, found.steps.map(step => h('li', { class: step.state },
                `${named('recoveryStep', step.key)}: ${named('state', step.state)}`)))],
        action: t(words), fields: [],
        async submit() {
            if (next) return go(next)
            if (!over.includes(known)) return replace('/recovery/status')
            keep('recovery', undefined)
            go('/sign-in')
        },
        further: over.includes(known) ? [] : [button(t('withdraw'), acting(async () => {
            await server.cancelRecovery({ recovery: claim.id, token: claim.token })
            replace('/recovery/status')
        })), link(t('start'), '/sign-in')],
    }
}

/** A code for the recovery that is open: the one that was sent last, or a new one. */
async function freshCode(claim) {
    const send = () => server.sendOTP({ body: { phone: claim.to, purpose: 'recovery', recoveryId: claim.id } })
    const fresh = kept('recoveryCode') ?? asSent(await send())
    keep('recoveryCode', fresh)
    return fresh
}

/** Asks for a new code in place of the one before. */
async function again(route) {
    keep('recoveryCode', undefined)
    replace(route)
}

async function evidence(_, signal) {
    const claim = kept('recovery')
    if (!claim) return { go: '/recovery' }
    const sent = await freshCode(claim)
    const field = codeField(t('code'), sent.length)
    const picture = draw({ key: 'picture', type: 'text', control: 'upload', label: t('documentPicture'), required: true })
    const { id: recovery, token } = claim
    return {
        title: t('giveEvidence'), content: [h('p', {}, t('evidenceText'))], back: '/recovery/status', action: t('sendPicture'),
        fields: [field, { ...picture, required: t('choosePicture') }],
        async submit(said) {
            const proof = { challengeId: sent.challengeId, code: said.code.value }
            await sendPicture(said.picture.file, about => server.addClaimantPicture({ recovery, token, body: { ...about, ...proof } }))
            await server.submitEvidence({ recovery, token, body: { evidenceReference: 'pictures' } })
            keep('recoveryCode', undefined)
            go('/recovery/status')
        },
        further: [resend(sent, () => again('/recovery/evidence'), signal), codesPanel(sent, claim.to, field)],
    }
}

async function complete(_, signal) {
    const claim = kept('recovery')
    if (!claim) return { go: '/recovery' }
    const sent = await freshCode(claim)
    return codePage({
        sent, to: claim.to, back: '/recovery/status', again: () => again('/recovery/complete'),
        async submit(code) {
            await server.completeRecovery({ recovery: claim.id, token: claim.token, body: {
                challengeId: sent.challengeId, code, device: { ...device(), secret: claim.secret } } })
            for (const name of ['recovery', 'recoveryCode']) keep(name, undefined)
            go(welcome())
        },
    }, signal)
}
