// A questionnaire, screen by screen, as its view has it.
import { patience, sendInTime, watch } from './connection.js'
import { button, h, link } from './dom.js'
import { draw, isKnown } from './fields.js'
import { acting, facts } from './page.js'
import { sendPhoto } from './photos.js'
import { go, part } from './routes.js'
import { device, isNotModified, isOffline, problemOf, server } from './server.js'
import { about, givenTo, neighbour, screenToContinue, sessionToOpen, textsOf, undecided, writeOf } from './values.js'
import { t } from './words.js'

/** The session that is open in this tab. */
let opened

/** The pages of questionnaires. */
export const questionRoutes = [
    ['/questions/:key', begin], ['/questions/:key/at/:screen', values => question(values, false)],
    ['/questions/:key/change/:screen', values => question(values, true)], ['/questions/:key/check', check],
    ['/questions/:key/conflict/:screen', conflict], ['/questions/:key/add/:kind', add], ['/questions/:key/remove/:subject', remove],
]

const path = (key, ...rest) => ['/questions', part(key), ...rest.map(part)].join('/')

/** Opens the session, and reads its view. Without a network, the view that was read last stands. */
async function load(key) {
    if (opened?.key !== key || opened.person !== server.user?.id) {
        const { sessions } = await server.listQuestionnaireSessions({ questionnaire: key })
        const session = sessionToOpen(sessions) ?? await server.openSession({ questionnaire: key })
        opened = { key, person: server.user?.id, session: session.id, status: session.status }
    }
    const queue = server.answers({ questionnaire: key, session: opened.session })
    watch(queue)
    await queue.load()
    await settle(queue)
    if (queue.state.blocked) {
        // The session was stopped: its answers are of no use to the next one.
        await queue.clear()
        opened = undefined
        return load(key)
    }
    const signal = opened.view && AbortSignal.timeout(patience)
    try {
        const { value, eTag } = await server.getSessionScreens({
            questionnaire: key, session: opened.session, ifNoneMatch: opened.eTag, signal })
        Object.assign(opened, { view: value, eTag })
    } catch (error) {
        if (!isNotModified(error) && !signal?.aborted && !(isOffline(error) && opened.view)) throw error
    }
    return { ...opened, queue }
}

/** Sends what waits, if need be after the session was moved to the newest version. */
async function settle(queue) {
    await sendInTime([queue])
    if (queue.state.blocked !== 'version_closed') return
    await server.migrateSession({ questionnaire: opened.key, session: opened.session })
    await queue.unblock()
    await queue.send()
}

async function begin([key]) {
    const { view } = await load(key)
    const screen = screenToContinue(view)
    return { go: screen ? path(key, 'at', screen) : path(key, 'check') }
}

async function question([key, screenKey], isChange) {
    // Of a subject that this page adds: the same for each try, so that a lost answer adds nobody twice.
    const fresh = crypto.randomUUID()
    const { view, queue, session } = await load(key)
    const screen = view.screens.find(each => each.key === screenKey)
    if (!screen) return { go: path(key) }
    const asked = screen.questions.at(-1)
    const place = { question: asked.key, subject: screen.subject }
    const { conflict, refusal } = about(place, queue.state)
    if (conflict) return { go: path(key, 'conflict', screenKey) }
    if (!isKnown(asked) && asked.type !== 'info' && asked.required) return { go: '/update' }
    const given = givenTo(place, view, queue.state)
    const isText = asked.type === 'info' || !isKnown(asked)
    const fields = isText ? [] : [drawField(asked, given)]
    const back = neighbour(view.screens, screenKey, -1)
    const who = view.subjects.find(subject => subject.id === screen.subject)?.label
    return {
        title: isText ? screen.title : asked.label, isQuestion: !isText,
        caption: [isText ? '' : screen.title, who].filter(Boolean).join(' – ') || undefined,
        back: isChange ? path(key, 'check') : back && path(key, 'at', back), locale: view.locale,
        progress: { value: view.screens.indexOf(screen), max: view.screens.length },
        content: screen.questions.filter(each => each.type === 'info').map(each => h('p', { class: 'text' }, each.label)),
        fields, failures: refusal && failuresOf(refusal.error, asked.key),
        async submit(said) {
            const { file, ...rest } = said[asked.key] ?? { state: 'acknowledged' }
            if (!file) return save(rest)
            const value = await sendPhoto(file, asked.upload)
            return value ? save({ state: 'answered', value }) : [{ key: asked.key, message: t('photosFull') }]
        },
        further: asked.skippable && given.state !== 'answered' ? [button(t('skip'), acting(() => save({ state: 'blank' })))] : [],
    }

    async function save(said) {
        if (screen.adds && !screen.subject) return addSubject(key, session, fresh, said.value)
        const write = writeOf(asked, said, given)
        if (write) await queue.put({ ...place, ...write, baseRevision: given.revision, device: device().name })
        const after = await load(key)
        const came = write ? about(place, after.queue.state) : {}
        if (came.conflict) return go(path(key, 'conflict', screenKey))
        if (came.refusal) return failuresOf(came.refusal.error, asked.key)
        const next = isChange ? (after.view.progress.requiredRemaining > 0 ? screenToContinue(after.view) : null)
            : neighbour(after.view.screens, screenKey, 1)
        go(next ? path(key, 'at', next) : path(key, 'check'))
    }
}

/** A question as a field that says by itself what is missing. */
function drawField(asked, given) {
    const { state, value } = given
    const field = draw(asked, { value: state === 'answered' ? value : undefined, declined: state === 'declined' }, { isTitle: true })
    return { ...field, required: asked.required && t('required', { label: asked.label }) }
}

/** What the server has against an answer. */
const failuresOf = (error, key) =>
    (error.errors?.length ? error.errors : [{ message: error.detail }]).map(({ message }) => ({ key, message }))

/** What the person has to decide before the end, each with a link to its page. */
const openOf = (key, view, state) => undecided(view, state).map(({ screen, error }) => ({
    message: `${screen.questions.at(-1).label}: ${error ? failuresOf(error)[0].message : t('conflictTitle')}`,
    route: path(key, 'change', screen.key) }))

/** Shows what a check-answers page has, and finishes. */
async function check([key]) {
    const { view, queue, session, status } = await load(key)
    const sectionOf = subject => view.screens.find(screen => screen.subject === subject.id)?.title
    const subjects = view.subjects.map(subject => ({ ...subject, section: sectionOf(subject) }))
    const rows = subject => view.review.filter(line => (line.screen.split('/')[1] ?? null) === subject).map(line => ({
        name: line.label, texts: line.stale ? [t('answerAgain')] : line.texts, route: path(key, 'change', line.screen) }))
    const kinds = [...new Map(subjects.map(subject => [subject.kind, subject.section])).entries()]
    const isOver = ['completed', 'amended'].includes(status)
    const waiting = queue.state.writes.length
    return {
        title: t('checkTitle'), caption: view.questionnaire.title, locale: view.locale,
        back: view.screens.length ? path(key, 'at', view.screens.at(-1).key) : undefined,
        content: [
            waiting > 0 && h('p', { class: 'notice' }, t('waiting', { count: waiting })), facts(rows(null)),
            ...subjects.flatMap(subject => [
                h('h2', {}, subject.label ?? subject.section), facts(rows(subject.id)),
                link(t('remove', { label: subject.label ?? subject.section }), path(key, 'remove', subject.id), { class: 'act' })]),
            ...kinds.map(([kind, section]) => link(t('addAnother', { section }), path(key, 'add', kind), { class: 'act' })),
        ].filter(Boolean),
        action: t(isOver ? 'continue' : 'finish'), fields: [], failures: openOf(key, view, queue.state),
        async submit() {
            await settle(queue)
            const open = openOf(key, view, queue.state)
            if (open.length) return open
            if (isOver) return go('/')
            try {
                await server.completeSession({ questionnaire: key, session })
            } catch (error) {
                const problem = problemOf(error)
                if (problem?.code !== 'questionnaire_incomplete') throw error
                return problem.problem.missing.map(missing => {
                    const screen = missing.subject ? `${missing.question}/${missing.subject}` : missing.question
                    const line = view.review.find(each => each.screen === screen)
                    return { message: line?.label ?? problem.detail, route: path(key, 'change', screen) }
                })
            }
            opened = undefined
            await untilKnown(key)
            go('/')
        },
    }
}

/** Waits until the onboarding knows that a questionnaire is completed: it may learn so a moment later. */
async function untilKnown(key) {
    for (let times = 0; times < 20; times++) {
        const { next } = await server.viewOnboarding()
        if (next?.questionnaire !== key) return
        await new Promise(resolve => setTimeout(resolve, 250))
    }
}

/** Asks which of two answers stands: this device's, or the other one's. */
async function conflict([key, screenKey]) {
    const { view, queue } = await load(key)
    const screen = view.screens.find(each => each.key === screenKey)
    const asked = screen?.questions.at(-1)
    const found = asked && about({ question: asked.key, subject: screen.subject }, queue.state).conflict
    if (!found) return { go: path(key, 'at', screenKey) }
    const texts = said => textsOf(asked, said).join(', ') || t('notAnswered')
    const { device: other } = found.theirs
    const options = [
        { key: 'mine', label: t('mine', { text: texts(found.mine) }) },
        { key: 'theirs', label: t(other ? 'theirsOn' : 'theirs', { text: texts(found.theirs), device: other }) }]
    const label = t('conflictQuestion', { question: asked.label })
    const field = draw({ key: 'keep', type: 'single_choice', control: 'radio', required: true, label, options })
    return {
        title: t('conflictTitle'), content: [h('p', {}, t('conflictText'))],
        fields: [{ ...field, required: t('required', { label: asked.label }) }],
        async submit(said) {
            if (said.keep.value === 'mine') await queue.keepMine(found)
            else await queue.keepTheirs(found)
            const after = await load(key)
            const next = neighbour(after.view.screens, screenKey, 1)
            go(next ? path(key, 'at', next) : path(key, 'check'))
        },
    }
}

/** Asks for one more subject of a section that repeats, by the question that names its subjects. */
async function add([key, kind]) {
    const { view, session } = await load(key)
    const one = view.subjects.find(subject => subject.kind === kind)
    const naming = view.screens.find(screen => screen.adds === kind) ?? view.screens.find(screen => screen.subject === one?.id)
    if (!naming) return { go: path(key, 'check') }
    const [asked, fresh] = [naming.questions.at(-1), crypto.randomUUID()]
    return {
        title: asked.label, isQuestion: true, caption: naming.title, back: path(key, 'check'), locale: view.locale,
        fields: [drawField(asked, { state: 'unanswered' })],
        submit: said => addSubject(key, session, fresh, said[asked.key].value),
    }
}

async function addSubject(key, session, subject, label) {
    await server.putSubject({ questionnaire: key, session, subject, body: { label } })
    const { view } = await load(key)
    go(path(key, 'at', screenToContinue(view) ?? view.screens.at(-1).key))
}

/** Asks before a subject is removed with its answers. */
async function remove([key, id]) {
    const { view, session } = await load(key)
    const subject = view.subjects.find(each => each.id === id)
    if (!subject) return { go: path(key, 'check') }
    return {
        title: t('removeTitle', { label: subject.label ?? '' }), content: [h('p', {}, t('removeText'))], back: path(key, 'check'),
        action: t('removeIt'), fields: [],
        async submit() {
            await server.removeSubject({ questionnaire: key, session, subject: id })
            go(path(key, 'check'))
        },
    }
}
