// Signing in: a number or an address, the code, and Google or Apple by redirect.
import { button, h, link } from './dom.js'
import { codeField, lineField } from './fields.js'
import { acting } from './page.js'
import { beginRedirect, providers } from './providers.js'
import { go } from './routes.js'
import { codesOnThisMachine, device, problemOf, rememberApp, server } from './server.js'
import { keep, kept } from './store.js'
import { t } from './words.js'

const kinds = {
    phone: {
        send: call => server.sendOTP(call), verify: call => server.verifyOTP(call),
        field: value => lineField('phone', t('phone'), { type: 'tel', inputmode: 'tel', autocomplete: 'tel', value }, t('phoneHelp')),
        masked: sent => sent.maskedPhone, other: 'usePhone', enter: 'enterPhone',
    },
    email: {
        send: call => server.sendEmailCode(call), verify: call => server.verifyEmailCode(call),
        field: value => lineField('email', t('email'), { type: 'email', autocomplete: 'email', value }, t('emailHelp')),
        masked: sent => sent.maskedEmail, other: 'useEmail', enter: 'enterEmail',
    },
}

/** The page that asks for a number or an address. */
export async function signIn([chosen]) {
    const { methods } = await server.getAuthMethods()
    const caption = t(kept('after') ? 'signInAgain' : 'signIn')
    const offered = methods.map(method => method.key)
    const codes = offered.filter(key => key in kinds)
    const kind = codes.includes(chosen) ? chosen : codes[0]
    const others = codes.filter(key => key !== kind).map(key => link(t(kinds[key].other), `/sign-in/${key}`))
    const redirects = (await providers(offered)).map(each => button(t('continueWith', { provider: each.name }), acting(() => beginRedirect(each))))
    const further = [...redirects, ...others, kind === 'phone' && link(t('lostPhone'), '/recovery')].filter(Boolean)
    if (!kind) return { title: caption, content: [h('p', {}, t(redirects.length ? 'signInWith' : 'noWayToSignIn'))], further }
    return {
        title: t(kind), isQuestion: true, caption,
        fields: [{ ...titled(kinds[kind].field('')), required: t(kinds[kind].enter) }],
        submit: said => sendCode(kind, said[kind].value),
        further,
    }
}

/** A field whose label is the title of the page. */
export function titled(field) {
    const label = field.element.querySelector('.label')
    label.replaceWith(h('h1', { tabindex: -1 }, ...label.childNodes))
    return field
}

/** Sends a code and leads to the page that asks for it. */
async function sendCode(kind, to, more = {}) {
    const before = kept('code')
    const replaces = before && before.kind === kind && before.to !== to ? { replaces: before.challengeId } : {}
    const linkToken = kept('link')?.linkToken
    const sent = await kinds[kind].send({ body: { [kind]: to, ...(kind === 'phone' ? replaces : {}), ...(linkToken ? { linkToken } : {}), ...more } })
    keep('code', {
        kind, to, challengeId: sent.challengeId, masked: kinds[kind].masked(sent), length: sent.codeLength, at: Date.now(),
        resendAfter: sent.resendAfterSeconds, until: Date.now() + sent.expiresInSeconds * 1000,
    })
    go('/code')
}

/** The page that asks for the code. */
export async function code(_, signal) {
    const sent = kept('code')
    if (!sent) return { go: '/sign-in' }
    const field = titled(codeField(t('code'), sent.length))
    return {
        title: t('code'), isQuestion: true, caption: t('codeSentTo', { to: sent.masked }), back: `/sign-in/${sent.kind}`, fields: [field],
        submit: said => verify(sent, said.code.value),
        further: [
            resend(sent, () => sendCode(sent.kind, sent.to), signal),
            link(t(sent.kind === 'phone' ? 'changeNumber' : 'changeAddress'), `/sign-in/${sent.kind}`),
            codesPanel(sent.to, sent.challengeId, field),
        ],
    }
}

async function verify(sent, code, more = {}) {
    try {
        await kinds[sent.kind].verify({ body: { challengeId: sent.challengeId, code, device: device(), ...more } })
    } catch (error) {
        const problem = problemOf(error)
        if (problem?.code === 'link_confirmation_required' || problem?.code === 'recovery_required') {
            keep('confirm', { code, problem: { code: problem.code, detail: problem.detail, options: problem.problem.options ?? [] } })
            return go('/code/confirm')
        }
        throw error
    }
    welcome()
}

/** Leads to the page that asked for the sign-in, or to where the person goes on. */
export function welcome() {
    const after = kept('after')?.route ?? '/'
    for (const name of ['code', 'confirm', 'link', 'after']) keep(name, undefined)
    rememberApp()
    go(after)
}

/** The page that asks how to go on with a number that has an account. */
export async function confirmCode() {
    const [sent, asked] = [kept('code'), kept('confirm')]
    if (!sent || !asked) return { go: '/sign-in' }
    const isLink = asked.problem.code === 'link_confirmation_required'
    return {
        title: t(isLink ? 'confirmLink' : 'accountSleeps'), back: '/code', content: [h('p', {}, asked.problem.detail)],
        action: t(isLink ? 'linkIt' : 'beginAnew'), fields: [],
        submit: () => verify(sent, asked.code, isLink ? { confirmLink: true } : { newAccount: true }),
        further: asked.problem.options.includes('recover') ? [link(t('recoverAccount'), '/recovery')] : [],
    }
}

/**
 * What is left until another code may be sent, then a button for it.
 *
 * @param {{at: number, resendAfter: number}} sent
 * @param {() => Promise<void>} again
 * @param {AbortSignal} signal ends with the page
 */
export function resend(sent, again, signal) {
    const place = h('p', { class: 'resend' })
    function show() {
        const left = Math.ceil((sent.at + sent.resendAfter * 1000 - Date.now()) / 1000)
        if (left > 0) place.textContent = t('resendIn', { count: left })
        else {
            clearInterval(timer)
            place.replaceChildren(button(t('resend'), acting(again)))
        }
    }
    const timer = setInterval(show, 1000)
    show()
    signal.addEventListener('abort', () => clearInterval(timer))
    return place
}

/** Waits until the code of a challenge is on its way: before that, the newest message has the code of another one. */
async function untilSent(challengeId) {
    for (let times = 0; times < 40; times++) {
        const { delivery } = await server.getCodeDelivery({ challengeId })
        if (delivery !== 'queued') return
        await new Promise(resolve => setTimeout(resolve, 250))
    }
}

/**
 * In a development system: the code that was sent, so that a person with only a browser gets through.
 *
 * @param {string} to a number or an address
 * @param {string} challengeId
 * @param {import('./fields.js').Field} field takes the code
 */
export function codesPanel(to, challengeId, field) {
    const panel = h('aside', { class: 'development', hidden: true, 'aria-label': t('development') })
    async function look() {
        if (await codesOnThisMachine(to) === null) return
        await untilSent(challengeId)
        const messages = await codesOnThisMachine(to) ?? []
        const code = messages[0]?.body.match(/\d{6}/)?.[0]
        const hadFocus = panel.contains(document.activeElement)
        panel.hidden = false
        panel.replaceChildren(
            h('p', {}, t('developmentHelp')), h('p', {}, messages[0]?.body ?? t('noCodeYet')),
            code ? button(t('fillIn'), () => { field.element.querySelector('input').value = code; field.focus() })
                : button(t('lookAgain'), acting(look)))
        if (hadFocus) panel.querySelector('button').focus()
    }
    look().catch(() => {})
    return panel
}
