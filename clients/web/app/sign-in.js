// Signing in: a number or an address, its code, and what to ask about an account that is there.
import { codePage, asSent } from './codes.js'
import { button, h, link } from './dom.js'
import { lineField, titled } from './fields.js'
import { acting } from './page.js'
import { beginRedirect, providers } from './providers.js'
import { go } from './routes.js'
import { device, problemOf, rememberApp, server } from './server.js'
import { keep, kept } from './store.js'
import { t } from './words.js'

const kinds = {
    phone: {
        send: call => server.sendOTP(call), verify: call => server.verifyOTP(call), input: { type: 'tel', autocomplete: 'tel' },
        help: 'phoneHelp', missing: 'enterPhone', use: 'usePhone', change: 'changeNumber',
    },
    email: {
        send: call => server.sendEmailCode(call), verify: call => server.verifyEmailCode(call),
        input: { type: 'email', autocomplete: 'email' },
        help: 'emailHelp', missing: 'enterEmail', use: 'useEmail', change: 'changeAddress',
    },
}

/** The page that asks for a number or an address. */
export async function signIn([chosen]) {
    const { methods } = await server.getAuthMethods()
    const offered = methods.map(method => method.key)
    const codes = offered.filter(key => key in kinds)
    const kind = codes.includes(chosen) ? chosen : codes[0]
    const redirects = (await providers(offered)).map(each =>
        button(t('continueWith', { provider: each.name }), acting(() => beginRedirect(each))))
    const others = codes.filter(key => key !== kind).map(key => link(t(kinds[key].use), `/sign-in/${key}`))
    const further = [...redirects, ...others, kind === 'phone' && link(t('lostPhone'), '/recovery')].filter(Boolean)
    const after = kept('after')
    const caption = t(after ? 'signInAgain' : 'signIn')
    const why = after ? [h('p', {}, after.detail), h('p', {}, t('strongestWay'))] : []
    if (!kind) return { title: caption, content: [...why, h('p', {}, t(redirects.length ? 'signInWith' : 'noWayToSignIn'))], further }
    const { input, help, missing } = kinds[kind]
    return {
        title: t(kind), isQuestion: true, caption, content: why,
        fields: [{ ...titled(lineField(kind, t(kind), input, t(help))), required: t(missing) }],
        submit: said => sendCode(kind, said[kind].value), further,
    }
}

/** Sends a code and leads to the page that asks for it. A number that was mistyped is given up. */
async function sendCode(kind, to) {
    const before = kept('code')
    const isMistyped = kind === 'phone' && before?.kind === kind && before.to !== to
    const body = { [kind]: to, linkToken: kept('link')?.linkToken, replaces: isMistyped ? before.challengeId : undefined }
    keep('code', { kind, to, ...asSent(await kinds[kind].send({ body })) })
    go('/code')
}

/** The page that asks for the code. */
export async function code(_, signal) {
    const sent = kept('code')
    if (!sent) return { go: '/sign-in' }
    const before = `/sign-in/${sent.kind}`
    return codePage({
        sent, to: sent.to, back: before, submit: code => verify(sent, code), again: () => sendCode(sent.kind, sent.to),
        further: [link(t(kinds[sent.kind].change), before)],
    }, signal)
}

async function verify(sent, code, more = {}) {
    try {
        await kinds[sent.kind].verify({ body: { challengeId: sent.challengeId, code, device: device(), ...more } })
    } catch (error) {
        const problem = problemOf(error)
        if (!['link_confirmation_required', 'recovery_required'].includes(problem?.code)) throw error
        keep('confirm', { code, ask: problem.code, detail: problem.detail, options: problem.problem.options ?? [], until: sent.until })
        return go('/code/confirm')
    }
    go(welcome())
}

/** What follows a sign-in: the page that asked for it, or where the person goes on. */
export function welcome() {
    const after = kept('after')?.route ?? '/'
    for (const name of ['code', 'confirm', 'link', 'after']) keep(name, undefined)
    rememberApp()
    return after
}

/** The page that asks how to go on with a number that has an account. */
export async function confirmCode() {
    const [sent, asked] = [kept('code'), kept('confirm')]
    if (!sent || !asked) return { go: '/sign-in' }
    const isLink = asked.ask === 'link_confirmation_required'
    return {
        title: t(isLink ? 'confirmLink' : 'accountSleeps'), back: '/code', content: [h('p', {}, asked.detail)],
        action: t(isLink ? 'linkIt' : 'beginAnew'), fields: [],
        submit: () => verify(sent, asked.code, isLink ? { confirmLink: true } : { newAccount: true }),
        further: asked.options.includes('recover') ? [link(t('recoverAccount'), '/recovery')] : [],
    }
}
