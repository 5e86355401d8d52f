// One screen of the profile, as the catalogue has it.
import { button, h } from './dom.js'
import { draw, isKnown } from './fields.js'
import { standing } from './home.js'
import { acting } from './page.js'
import { sendPhoto } from './photos.js'
import { go, part, replace } from './routes.js'
import { problemOf, search, server } from './server.js'
import { changesOf, neighbour, screensOf } from './values.js'
import { day, t } from './words.js'

/** How long the position may take, with the browser's question whether it may be read. */
const positionMs = 20_000

/** What the page of a screen tells when it is drawn anew: that another device has changed the profile. */
let told

function takeTold() {
    const failures = told && [{ message: told }]
    told = undefined
    return failures
}

/** The page of a screen. */
export async function profile([key]) {
    const { catalogue, me, eTag, isBlocked } = await standing()
    if (isBlocked) return { go: '/blocked' }
    const screen = catalogue.steps.find(each => each.key === key)
    if (!screen) return { go: '/' }
    const fieldOf = name => catalogue.fields.find(field => field.key === name)
    // The options of a question stand in its field.
    const questions = (screen.questions ?? []).map(question => ({ options: fieldOf(question.key).options, ...question }))
    if (questions.some(question => question.required && !isKnown(question))) return { go: '/update' }
    const screens = screensOf(catalogue, screen.onboardingStep)
    const isOne = questions.length === 1
    const found = {}
    const confirmed = new Set()
    const confirmation = h('div', { role: 'status' })
    const fields = questions.filter(isKnown).map(drawField)
    const position = screen.fields.map(fieldOf).find(field => field?.type === 'coordinates')
    const back = neighbour(screens, key, -1)
    return {
        title: isOne ? questions[0].label : screen.label, isQuestion: isOne, caption: isOne ? screen.label : t('step_fields'),
        back: back ? `/profile/${part(back)}` : undefined, progress: { value: screens.indexOf(screen), max: screens.length },
        locale: catalogue.language, fields, failures: takeTold(), below: confirmation, submit,
        further: [
            position && navigator.geolocation && button(t('usePosition'), acting(() => locate(position))),
            screen.skippable && button(t('skip'), acting(() => save({}, {}))),
        ].filter(Boolean),
    }

    function drawField(question) {
        const { lookup } = fieldOf(question.key)
        const value = me.profile[question.key]
        const isDeclined = me.preferNotToShareFields.includes(question.key)
        const field = draw(question, { value: isDeclined ? undefined : value, declined: isDeclined },
            { isTitle: isOne, lookup, onFound: result => take(lookup, result) })
        return { ...field, required: question.required && t('required', { label: question.label }) }
    }

    /** Shows what a search has found in every field that it fills. */
    function take(lookup, result) {
        for (const fill of lookup.fills) fields.find(each => each.key === fill.field)?.fill?.(result[fill.member])
    }

    async function submit(said) {
        const { changes } = changesOf({ catalogue, screen, me, said, found })
        const final = Object.keys(changes).find(name => fieldOf(name).setOnce && changes[name] !== me.profile[name])
        if (final && !confirmed.has(changes[final])) return ask(fieldOf(final), changes[final])
        return save(said, found)
    }

    /** Shows a value that can hardly be changed: `Continue` saves it the next time. */
    function ask({ label, type }, value) {
        confirmed.add(value)
        confirmation.replaceChildren(h('div', { class: 'notice' },
            h('p', {}, `${label}: `, h('strong', {}, type === 'date' ? day(value) : String(value))), h('p', {}, t('setOnce'))))
    }

    async function save(said, more) {
        const { changes, skips } = changesOf({ catalogue, screen, me, said, found: more })
        try {
            for (const { key: name, upload } of questions) {
                const file = said[name]?.file
                if (file && !await sendPhoto(file, upload)) return [{ key: name, message: t('photosFull') }]
            }
            if (Object.keys(changes).length) {
                const { value } = await server.updateMe({ body: changes, ifMatch: eTag })
                if (value.ageGate) return go('/blocked')
            }
            for (const body of skips) await server.skipField({ body })
        } catch (error) {
            const problem = problemOf(error)
            if (problem?.code !== 'precondition_failed') throw error
            told = problem.detail
            return replace(`/profile/${part(key)}`)
        }
        const next = neighbour(screens, key, 1)
        go(next ? `/profile/${part(next)}` : '/')
    }

    async function locate(field) {
        const here = await new Promise(resolve => {
            navigator.geolocation.getCurrentPosition(resolve, () => resolve(null), { timeout: positionMs })
            // The browser's own time begins once the person has said yes to it.
            setTimeout(() => resolve(null), positionMs)
        })
        if (!here) return [{ message: t('noPosition') }]
        const [latitude, longitude] = [here.coords.latitude, here.coords.longitude].map(value => Math.round(value * 100) / 100)
        found[field.key] = { latitude, longitude }
        const lookup = screen.fields.map(fieldOf).find(each => each?.lookup)?.lookup
        const answer = lookup ? await search(lookup.path, { latitude, longitude, limit: 1 }) : {}
        const nearest = Object.values(answer).find(Array.isArray)?.[0]
        if (nearest) take(lookup, nearest)
    }
}
