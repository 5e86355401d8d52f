// Codes of one use: the page that asks for one, the time until another may be sent, and the panel of a development system.
import { button, h } from './dom.js'
import { codeField, titled } from './fields.js'
import { acting } from './page.js'
import { codesOnThisMachine, server } from './server.js'
import { withCode } from './values.js'
import { t } from './words.js'

/**
 * @typedef {object} Sent A code on its way.
 * @property {string} challengeId
 * @property {string} masked where it goes, as the person recognises it
 * @property {number} length
 * @property {number} at when it was sent, in milliseconds
 * @property {number} resendAfter seconds
 * @property {number} until the end of the code, in milliseconds
 */

/**
 * What the app keeps of a code that was sent.
 *
 * @param {object} reply of the call that sends it
 * @returns {Sent}
 */
export const asSent = reply => ({
    challengeId: reply.challengeId, masked: reply.maskedPhone ?? reply.maskedEmail, length: reply.codeLength,
    at: Date.now(), resendAfter: reply.resendAfterSeconds, until: Date.now() + reply.expiresInSeconds * 1000,
})

/**
 * The page that asks for a code.
 *
 * @param {object} of
 * @param {Sent} of.sent
 * @param {string} of.to the number or address
 * @param {string} of.back
 * @param {(code: string) => Promise<void>} of.submit
 * @param {() => Promise<void>} of.again sends another code
 * @param {Node[]} [of.further]
 * @param {AbortSignal} signal ends with the page
 */
export function codePage({ sent, to, back, submit, again, further = [] }, signal) {
    const field = titled(codeField(t('code'), sent.length))
    return {
        title: t('code'), isQuestion: true, caption: t('codeSentTo', { to: sent.masked }), back, fields: [field],
        submit: said => submit(said.code.value), further: [resend(sent, again, signal), ...further, codesPanel(sent, to, field)],
    }
}

/**
 * What is left until another code may be sent, then a button for it.
 *
 * @param {Sent} sent
 * @param {() => Promise<void>} again
 * @param {AbortSignal} signal ends with the page
 */
export function resend(sent, again, signal) {
    const place = h('p', {})
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

/**
 * In a development system: the code that was sent, so that a person with only a browser gets through.
 *
 * @param {Sent} sent
 * @param {string} to
 * @param {import('./fields.js').Field} field takes the code
 */
export function codesPanel(sent, to, field) {
    const panel = h('aside', { class: 'development', hidden: true, 'aria-label': t('development') })
    async function look() {
        if (await codesOnThisMachine(to) === null) return
        await untilSent(sent.challengeId)
        const newest = withCode(await codesOnThisMachine(to) ?? [])
        const code = newest?.code
        const hadFocus = panel.contains(document.activeElement)
        panel.hidden = false
        panel.replaceChildren(
            h('p', {}, t('developmentHelp')), h('p', {}, newest?.body ?? t('noCodeYet')),
            code ? button(t('fillIn'), () => { field.element.querySelector('input').value = code; field.focus() })
                : button(t('lookAgain'), acting(look)))
        if (hadFocus) panel.querySelector('button').focus()
    }
    // The page works without the panel.
    look().catch(() => {})
    return panel
}

/** Waits until the code of a challenge is on its way: before that, the newest message has the code of another one. */
async function untilSent(challengeId) {
    for (let times = 0; times < 40; times++) {
        const { delivery } = await server.getCodeDelivery({ challengeId })
        if (delivery !== 'queued') return
        await new Promise(resolve => setTimeout(resolve, 250))
    }
}
