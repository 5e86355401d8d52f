// An account without the phone that it had: the claimant's side.
import { button, h, link } from './dom.js'
import { codeField, draw, lineField } from './fields.js'
import { acting } from './page.js'
import { sendPicture } from './photos.js'
import { go, replace } from './routes.js'
import { device, server } from './server.js'
import { codesPanel, resend, titled, welcome } from './sign-in.js'
import { keep, kept } from './store.js'
import { moment, named, t } from './words.js'

/** The pages of a recovery. Nobody is signed in there. */
export const recoveryRoutes = [
    ['/recovery', begin], ['/recovery/number', number], ['/recovery/code', code], ['/recovery/status', status],
    ['/recovery/evidence', evidence], ['/recovery/complete', complete],
]
const statuses = [
    'held', 'identity_required', 'in_review', 'approved', 'completing', 'completed', 'rejected', 'cancelled', 'expired']
const isOver = status => ['completed', 'rejected', 'cancelled', 'expired'].includes(status)
/** The address of the account: a number, or an email address. */
const accountOf = text => text.includes('@') ? { accountEmail: text } : { accountPhone: text }

function begin() {
    if (kept('recovery')) return { go: '/recovery/status' }
    const field = titled(lineField('account', t('recoveryAccount'), { type: 'text', autocomplete: 'username' }, t('recoveryAccountHelp')))
    return {
        title: t('recoveryAccount'), isQuestion: true, caption: t('recovery'), back: '/sign-in', fields: [{ ...field, required: t('enterAccount') }],
        async submit(said) {
            keep('claim', { account: said.account.value })
            go('/recovery/number')
        },
    }
}

function number() {
    const claim = kept('claim')
    if (!claim) return { go: '/recovery' }
    const field = titled(lineField('phone', t('recoveryNumber'), { type: 'tel', autocomplete: 'tel', value: claim.to ?? '' }, t('recoveryNumberHelp')))
    return {
        title: t('recoveryNumber'), isQuestion: true, caption: t('recovery'), back: '/recovery', fields: [{ ...field, required: t('enterPhone') }],
        submit: said => sendClaimCode({ ...claim, to: said.phone.value }),
    }
}

async function sendClaimCode(claim) {
    const sent = await server.sendOTP({ body: { phone: claim.to, purpose: 'recovery', ...accountOf(claim.account) } })
    keep('claim', { ...claim, sent: { ...sent, at: Date.now(), resendAfter: sent.resendAfterSeconds } })
    go('/recovery/code')
}

function code(_, signal) {
    const claim = kept('claim')
    if (!claim?.sent) return { go: '/recovery' }
    const field = titled(codeField(t('code'), claim.sent.codeLength))
    return {
        title: t('code'), isQuestion: true, caption: t('codeSentTo', { to: claim.sent.maskedPhone }), back: '/recovery/number', fields: [field],
        async submit(said) {
            const asked = await server.requestRecovery({ body: {
                ...accountOf(claim.account), challengeId: claim.sent.challengeId, code: said.code.value, device: device() } })
            keep('recovery', { id: asked.recoveryId, token: asked.recoveryToken, secret: asked.deviceSecret, to: claim.to })
            keep('claim', undefined)
            go('/recovery/status')
        },
        further: [resend(claim.sent, () => sendClaimCode(claim), signal), codesPanel(claim.to, claim.sent.challengeId, field)],
    }
}

/** How far the recovery is, and what the person can do about it. */
async function status() {
    const claim = kept('recovery')
    if (!claim) return { go: '/recovery' }
    const found = await server.getRecoveryCase({ recovery: claim.id, token: claim.token })
    const known = statuses.includes(found.status) ? found.status : 'in_review'
    const act = { identity_required: ['giveEvidence', '/recovery/evidence'], approved: ['completeRecovery', '/recovery/complete'] }[known]
    return {
        title: t(`recovery_${known}`), caption: t('recovery'),
        content: [
            h('p', {}, t(`recovery_${known}_text`, { until: moment(found.holdUntil) })),
            h('ol', { class: 'steps' }, found.steps.map(step => h('li', { class: step.state },
                `${named('recoveryStep', step.key)}: ${named('state', step.state)}`)))],
        action: t(act ? act[0] : isOver(known) ? 'signIn' : 'lookAgain'), fields: [],
        async submit() {
            if (act) return go(act[1])
            if (!isOver(known)) return replace('/recovery/status')
            keep('recovery', undefined)
            go('/sign-in')
        },
        further: isOver(known) ? [] : [button(t('withdraw'), acting(async () => {
            await server.cancelRecovery({ recovery: claim.id, token: claim.token })
            replace('/recovery/status')
        })), link(t('start'), '/sign-in')],
    }
}

/** Sends a code for the recovery that is open, unless one is fresh. */
async function freshCode(claim) {
    const fresh = kept('recoveryCode')
    if (fresh) return fresh
    const sent = await server.sendOTP({ body: { phone: claim.to, purpose: 'recovery', recoveryId: claim.id } })
    const made = { ...sent, at: Date.now(), resendAfter: sent.resendAfterSeconds, until: Date.now() + sent.expiresInSeconds * 1000 }
    keep('recoveryCode', made)
    return made
}

async function evidence(_, signal) {
    const claim = kept('recovery')
    if (!claim) return { go: '/recovery' }
    const sent = await freshCode(claim)
    const field = codeField(t('code'), sent.codeLength)
    const picture = draw({ key: 'picture', type: 'text', control: 'upload', label: t('documentPicture'), required: true })
    return {
        title: t('giveEvidence'), content: [h('p', {}, t('evidenceText'))], back: '/recovery/status', action: t('sendPicture'),
        fields: [field, { ...picture, required: t('choosePicture') }],
        async submit(said) {
            const proof = { challengeId: sent.challengeId, code: said.code.value }
            await sendPicture(said.picture.file, about => server.addClaimantPicture({ recovery: claim.id, token: claim.token, body: { ...about, ...proof } }))
            await server.submitEvidence({ recovery: claim.id, token: claim.token, body: { evidenceReference: 'pictures' } })
            keep('recoveryCode', undefined)
            go('/recovery/status')
        },
        further: [resend(sent, () => again('/recovery/evidence'), signal), codesPanel(claim.to, sent.challengeId, field)],
    }
}

/** Asks for a new code in place of the one before. */
async function again(route) {
    keep('recoveryCode', undefined)
    replace(route)
}

async function complete(_, signal) {
    const claim = kept('recovery')
    if (!claim) return { go: '/recovery' }
    const sent = await freshCode(claim)
    const field = titled(codeField(t('code'), sent.codeLength))
    return {
        title: t('code'), isQuestion: true, caption: t('codeSentTo', { to: sent.maskedPhone }), back: '/recovery/status', fields: [field],
        async submit(said) {
            await server.completeRecovery({ recovery: claim.id, token: claim.token, body: {
                challengeId: sent.challengeId, code: said.code.value, device: { ...device(), secret: claim.secret } } })
            for (const name of ['recovery', 'recoveryCode']) keep(name, undefined)
            welcome()
        },
        further: [resend(sent, () => again('/recovery/complete'), signal), codesPanel(claim.to, sent.challengeId, field)],
    }
}
