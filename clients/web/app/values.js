// Decisions without a page: values in, values out.

/** The digits of a code as a person types or pastes it: `123 456` is `123456`. */
export const codeFrom = text => text.normalize('NFKC').replace(/[^0-9]/g, '')

/**
 * A date of three fields.
 *
 * @returns {string | null} `YYYY-MM-DD`, or `null` if the calendar has no such day.
 */
export function dateFrom(day, month, year) {
    const numbers = [day, month, year].map(text => (/^\s*\d+\s*$/.test(text) ? Number(text) : NaN))
    const [d, m, y] = numbers
    if (numbers.some(Number.isNaN) || y < 1000 || y > 9999) return null
    const date = new Date(Date.UTC(y, m - 1, d))
    return date.getUTCMonth() === m - 1 && date.getUTCDate() === d ? date.toISOString().slice(0, 10) : null
}

/**
 * The number that a person types, with a comma or a point; `null` if it is none. In English `1,500` is none: it may mean 1500 or 1.5.
 */
export function numberFrom(text, language) {
    const typed = text.replace(/\s/g, '')
    if (language === 'en' && /,\d{3}$/.test(typed)) return null
    const plain = typed.replace(',', '.')
    return /^[+-]?\d+(\.\d+)?$/.test(plain) ? Number(plain) : null
}

/** Feet and inches as inches, rounded. */
export const inchesFrom = (feet, inches) => Math.round(feet * 12 + inches)

/** A list with the item at `index` moved by `by` places, as far as the list goes. */
export function moved(list, index, by) {
    const to = Math.min(list.length - 1, Math.max(0, index + by))
    const copy = [...list]
    copy.splice(to, 0, ...copy.splice(index, 1))
    return copy
}

/** What is chosen after `key` was switched: an exclusive option stands alone. */
export function switched(options, chosen, key, on) {
    if (!on) return chosen.filter(each => each !== key)
    const exclusive = new Set(options.filter(option => option.exclusive).map(option => option.key))
    return exclusive.has(key) ? [key] : [...chosen.filter(each => !exclusive.has(each) && each !== key), key]
}

/** The length of a text as a person counts: in grapheme clusters. */
export const graphemes = text => [...new Intl.Segmenter().segment(text)].length

/** The screen that a view says to go on at; `null` if nothing is left. */
export function screenToContinue(view) {
    if (!view.next) return null
    const before = view.next.before?.[0]
    if (before) return before
    return view.next.subject ? `${view.next.question}/${view.next.subject}` : view.next.question
}

/** The screen `by` places behind (or before) the one with this key; `null` beyond the ends. */
export function neighbour(screens, key, by) {
    const index = screens.findIndex(screen => screen.key === key)
    return index < 0 ? null : (screens[index + by]?.key ?? null)
}

/** Whether the person has said something about a field: a value, a skip, or that they prefer not to say. */
export const isTouched = (me, field) =>
    field.key in me.profile || me.skippedFields.includes(field.key) || me.preferNotToShareFields.includes(field.key)

/** The screens of one step of the onboarding, in order. */
export const screensOf = (catalogue, step) => catalogue.steps.filter(screen => screen.onboardingStep === step)

/** The first screen of a step with a field that the person has said nothing about; `null` if there is none. */
export function screenToFill(catalogue, me, step) {
    const untouched = screen => screen.fields
        .map(key => catalogue.fields.find(field => field.key === key))
        .some(field => field && !isTouched(me, field))
    return screensOf(catalogue, step).find(untouched)?.key ?? null
}

const tasks = { visual_preferences: '/pictures', verification: '/verification', id_verification: '/document' }

/** The page of a step; `null` for a kind that this app does not know. */
export function routeOfStep(step, catalogue, me) {
    switch (step.kind) {
    case 'fields': {
        const screen = screenToFill(catalogue, me, step.key) ?? screensOf(catalogue, step.key)[0]?.key
        return screen ? `/profile/${screen}` : null
    }
    case 'questionnaire': return `/questions/${step.questionnaire}`
    case 'terms': return `/terms/${step.key}`
    case 'operator': return `/wait/${step.key}`
    default: return tasks[step.kind] ?? null
    }
}

/**
 * The page on which a person goes on.
 *
 * Fields that a required step only offers come before the steps behind it: who has filled in what is required is asked for
 * the rest once, screen by screen, and may skip it.
 */
export function routeToContinue(onboarding, catalogue, me) {
    const current = onboarding.steps.findIndex(step => step.key === onboarding.next?.step)
    const reached = onboarding.steps.slice(0, current < 0 ? onboarding.steps.length : current)
    const offered = reached.find(step =>
        step.kind === 'fields' && step.need === 'required' && screenToFill(catalogue, me, step.key))
    const step = offered ?? onboarding.steps[current]
    return step ? (routeOfStep(step, catalogue, me) ?? `/wait/${step.key}`) : '/done'
}

/** Which fields a problem is about, and what to say there. What names no field of the page has no `key`. */
export function errorsOf(problem, keys) {
    const items = problem.errors ?? []
    if (items.length === 0) return [{ message: problem.detail }]
    return items.map(item => ({
        key: keys.find(key => item.field === key) ?? (keys.length === 1 ? keys[0] : undefined),
        message: item.message,
    }))
}

/**
 * What a filled-in screen of the profile changes: values to save, and fields to skip.
 *
 * A field that was left empty is skipped, so that it counts as seen. If it had a value, the value goes. A picture is sent on
 * another way, and stays if none was chosen.
 *
 * @param {object} of
 * @param {object} of.catalogue
 * @param {object} of.screen
 * @param {object} of.me
 * @param {Record<string, import('./fields.js').Said>} of.said
 * @param {Record<string, unknown>} [of.found] Values that the person did not write, such as a position.
 */
export function changesOf({ catalogue, screen, me, said, found = {} }) {
    const changes = {}
    const skips = []
    for (const key of screen.fields) {
        const field = catalogue.fields.find(each => each.key === key)
        const { state, value, file } = said[key] ?? { state: 'blank' }
        const isUpload = screen.questions.some(question => question.key === key && question.upload)
        if (file) continue
        if (key in found) changes[key] = found[key]
        else if (state === 'answered') changes[key] = value
        else if (state === 'declined') changes[key] = catalogue.preferNotToSay.key
        else if (!isTouched(me, field)) field.skippable && skips.push({ field: key })
        else if (key in said && !isUpload && field.skippable && !me.skippedFields.includes(key)) skips.push({ field: key, clear: true })
    }
    return { changes, skips }
}

/** The session of a questionnaire that a person goes on with: the open one, else the one that was completed last. */
export const sessionToOpen = sessions =>
    sessions.find(({ status }) => status === 'in_progress') ?? sessions.find(({ status }) => ['completed', 'amended'].includes(status))

const isSamePlace = (one, other) => one.question === other.question && (one.subject ?? null) === (other.subject ?? null)

/** What the person has said to a question: what waits on this device, else what the server has. */
export function givenTo(place, view, queue) {
    const last = [...queue.conflicts.map(conflict => conflict.mine), ...queue.refused.map(({ write }) => write), ...queue.writes]
        .findLast(write => isSamePlace(write, place))
    const answer = view.answers.find(each => isSamePlace(each, place))
    return { ...(last ?? answer ?? { state: 'unanswered' }), revision: answer?.revision ?? 0 }
}

/** The part of a queue that is about one question. */
export const about = (place, { conflicts, refused }) => ({
    conflict: conflicts.find(({ mine }) => isSamePlace(mine, place)),
    refusal: refused.find(({ write }) => isSamePlace(write, place)),
})

/** What the person has to choose, or to answer again: each with its screen, and what the server has against the answer. */
export function undecided(view, { conflicts, refused }) {
    const screenOf = place => view.screens.find(({ questions, subject }) => isSamePlace({ question: questions.at(-1).key, subject }, place))
    const all = [...conflicts.map(({ mine }) => ({ screen: screenOf(mine) })),
        ...refused.map(({ write, error }) => ({ screen: screenOf(write), error }))]
    // What the view does not ask any more is nobody's to decide.
    return all.filter(({ screen }) => screen)
}

/** The answer of a question as a person reads it. */
export function textsOf(question, { state, value }) {
    if (state === 'declined') return [question.declineLabel ?? '']
    if (state !== 'answered') return []
    const texts = (Array.isArray(value) ? value : [value]).map(each => {
        const option = question.options?.find(({ key }) => key === each)
        return option?.label ?? each?.other ?? (typeof each === 'object' ? Object.values(each).reverse().join(' ') : String(each))
    })
    return texts
}

/**
 * What is sent for an answer; `null` if there is nothing to send. What was answered before is taken away if it is left empty, but for
 * a picture, which stays. Any other question that is left empty is skipped if it may be.
 */
export function writeOf(question, said, given) {
    if (question.type === 'info') return given.state === 'acknowledged' ? null : { state: 'acknowledged' }
    if (said.state === 'answered') return { state: 'answered', value: said.value }
    if (said.state === 'declined') return { state: 'declined' }
    if (given.state === 'answered') return question.upload ? null : { state: 'unanswered' }
    if (question.skippable) return { state: 'skipped' }
    return given.state === 'declined' ? { state: 'unanswered' } : null
}

/** The first message that begins with a code of six digits, and that code: a notice with numbers of its own may have come after it. */
export const withCode = messages => messages.map(({ body }) => ({ body, code: body.match(/^\d{6}\b/)?.[0] })).find(({ code }) => code)
