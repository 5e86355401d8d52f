// Where the person goes on: the page behind the sign-in, and the pages around the steps.
import { button, h, link } from './dom.js'
import { leave, unsent } from './leave.js'
import { acting } from './page.js'
import { go, part, replace } from './routes.js'
import { server } from './server.js'
import { routeOfStep, routeToContinue, screensOf } from './values.js'
import { day, named, t } from './words.js'

/** What every page about the onboarding reads. `isBlocked`: the person is too young or suspended, and goes on nowhere. */
export async function standing() {
    const [onboarding, { value: catalogue }, { value: me, eTag }, { appAccess }] = await Promise.all([
        server.viewOnboarding(), server.getProfileFields(), server.getMe(), server.getRequirements()])
    const isBlocked = Boolean(onboarding.ageGate) || appAccess.disabledReason === 'suspended'
    return { onboarding, catalogue, me, eTag, isBlocked }
}

/** Leads to the page on which the person goes on. */
export async function home() {
    const { onboarding, catalogue, me, isBlocked } = await standing()
    return { go: isBlocked ? '/blocked' : routeToContinue(onboarding, catalogue, me) }
}

/** The page behind `Save and exit`. */
export async function saved() {
    const count = await unsent()
    return {
        title: t(count ? 'unsentTitle' : 'savedTitle'), content: [h('p', {}, t(count ? 'unsentText' : 'savedText', { count }))],
        action: t('goOn'), fields: [], submit: async () => go('/'),
        further: [button(t('signOut'), acting(leave))],
    }
}

/** What a person reads who may not go on: too young, or suspended. */
export async function blocked() {
    const { ageGate } = await server.viewOnboarding()
    const further = [link(t('account'), '/account')]
    if (!ageGate) return { title: t('suspendedTitle'), content: [h('p', {}, t('suspendedText'))], further }
    const told = h('p', { role: 'status' })
    return {
        title: ageGate.message, content: [h('p', {}, t('eligibleOn', { day: day(ageGate.eligibleOn) })), told],
        action: t('notifyMe'), fields: [],
        async submit() {
            const { eligibleOn } = await server.joinWaitlist({ body: { notify: true } })
            told.textContent = t('onWaitlist', { day: day(eligibleOn) })
        },
        further,
    }
}

/** A step at which the person can only wait, or one that this app does not know. */
export async function wait([key]) {
    const { steps } = await server.viewOnboarding()
    const step = steps.find(each => each.key === key)
    if (!step || step.state === 'done') return { go: '/' }
    return waitPage(step.kind === 'operator' ? 'waitForOperator' : 'updateTheApp')
}

/** What a person reads who must answer something that this app cannot draw. */
export const update = async () => waitPage('updateTheApp')

const waitPage = words => ({
    title: t('waitTitle'), content: [h('p', {}, t(words))], action: t('lookAgain'), fields: [], submit: async () => replace('/') })

/** The end of the onboarding, with what the plan still offers. */
export async function done() {
    const { onboarding, catalogue, me } = await standing()
    const steps = [...onboarding.steps, ...(onboarding.additions ?? [])]
    const left = steps.filter(step => step.kind !== 'account' && step.state !== 'done')
    const screens = steps.filter(step => step.kind === 'fields').flatMap(step => screensOf(catalogue, step.key))
    const questionnaires = steps.filter(step => step.kind === 'questionnaire' && step.state === 'done')
    return {
        title: t(onboarding.onboardingStatus === 'complete' ? 'doneTitle' : 'nearlyDoneTitle'),
        content: [
            h('p', {}, t(onboarding.matchingMode === 'provisional' ? 'doneProvisional' : 'doneText')),
            ...links('alsoOffered', left.map(step =>
                [stepName(step, catalogue), routeOfStep(step, catalogue, me) ?? `/wait/${part(step.key)}`])),
            ...links('yourAnswers', questionnaires.map(step => [t('lookAtAnswers'), `/questions/${part(step.questionnaire)}/check`])),
            ...links('yourProfile', screens.map(screen => [screen.label, `/profile/${part(screen.key)}`])),
        ],
        further: [link(t('account'), '/account'), button(t('signOut'), acting(leave))],
    }
}

/** A heading with links, unless there are none. */
const links = (title, to) => to.length === 0 ? [] : [
    h('h2', {}, t(title)), h('ul', { class: 'links' }, to.map(([text, route]) => h('li', {}, link(text, route))))]

/** A step in words: what the app calls its kind. */
function stepName(step, catalogue) {
    const screens = screensOf(catalogue, step.key)
    return step.kind === 'fields' && screens.length === 1 ? screens[0].label : named('step', step.kind)
}
