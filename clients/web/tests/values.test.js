import assert from 'node:assert/strict'
import test from 'node:test'
import {
    about, changesOf, codeFrom, dateFrom, errorsOf, givenTo, graphemes, inchesFrom, moved, neighbour, numberFrom, routeToContinue,
    screenToContinue, screenToFill, sessionToOpen, switched, textsOf, undecided, withCode, writeOf,
} from '../app/values.js'

test('a code is its digits, however it is typed', () => {
    for (const text of ['123456', '123 456', '123-456', ' 1 2 3 4 5 6 ', '１２３４５６', 'Your code: 123456']) assert.equal(codeFrom(text), '123456')
})

test('a notice that came after a code does not hide it', () => {
    const [notice, code] = [{ body: 'Somebody asks for your account. Recovery: 019abf5e-1f2a-7c31-8f00-813604912c0f' }, { body: '123456 is your code.' }]
    assert.deepEqual(withCode([notice, code]), { ...code, code: '123456' })
    assert.equal(withCode([notice]), undefined)
})

test('a date is one of the calendar', () => {
    assert.equal(dateFrom('5', '3', '1990'), '1990-03-05')
    assert.equal(dateFrom(' 29 ', '02', '2024'), '2024-02-29')
    for (const parts of [['29', '2', '2023'], ['31', '4', '1990'], ['0', '1', '1990'], ['1', '13', '1990'], ['1', '1', '90'], ['a', '1', '1990'], ['', '1', '1990']]) {
        assert.equal(dateFrom(...parts), null, parts.join(' '))
    }
})

test('a number has a comma or a point', () => {
    for (const language of ['en', 'sv']) {
        const numbers = texts => texts.map(text => numberFrom(text, language))
        assert.deepEqual(numbers(['7', '7.5', '7,5', ' 1 000 ', '-2']), [7, 7.5, 7.5, 1000, -2])
        assert.deepEqual(numbers(['', 'x', '1.2.3', '7 cm', '1e3']), [null, null, null, null, null])
    }
})

test('a comma before three digits is a decimal point in Swedish, and may be none in English', () => {
    for (const [text, number] of [['1,500', 1.5], ['-12,345', -12.345], ['1 000,500', 1000.5]]) {
        assert.deepEqual([numberFrom(text, 'sv'), numberFrom(text, 'en')], [number, null], text)
    }
    assert.deepEqual([numberFrom('1,50', 'en'), numberFrom('1,5000', 'en'), numberFrom('1.500', 'en')], [1.5, 1.5, 1.5])
})

test('feet and inches are inches', () => {
    assert.equal(inchesFrom(5, 7), 67)
    assert.equal(inchesFrom(0, 170 / 2.54), 67)
})

test('an item moves within its list', () => {
    assert.deepEqual(moved(['a', 'b', 'c'], 1, -1), ['b', 'a', 'c'])
    assert.deepEqual(moved(['a', 'b', 'c'], 0, -1), ['a', 'b', 'c'])
    assert.deepEqual(moved(['a', 'b', 'c'], 2, 1), ['a', 'b', 'c'])
})

test('an exclusive option stands alone', () => {
    const options = [{ key: 'a' }, { key: 'b' }, { key: 'none', exclusive: true }]
    assert.deepEqual(switched(options, ['a'], 'b', true), ['a', 'b'])
    assert.deepEqual(switched(options, ['a', 'b'], 'none', true), ['none'])
    assert.deepEqual(switched(options, ['none'], 'a', true), ['a'])
    assert.deepEqual(switched(options, ['a', 'b'], 'a', false), ['b'])
})

test('a text is as long as a person counts', () => {
    assert.equal(graphemes('Åsa 👩‍👧'), 5)
})

test('a view says where to go on', () => {
    assert.equal(screenToContinue({ next: null }), null)
    assert.equal(screenToContinue({ next: { question: 'a', before: [] } }), 'a')
    assert.equal(screenToContinue({ next: { question: 'a', subject: 's', before: [] } }), 'a/s')
    assert.equal(screenToContinue({ next: { question: 'a', before: ['intro'] } }), 'intro')
    const screens = [{ key: 'a' }, { key: 'b' }]
    assert.deepEqual([neighbour(screens, 'a', 1), neighbour(screens, 'b', 1), neighbour(screens, 'a', -1), neighbour(screens, 'x', 1)], ['b', null, null, null])
})

const catalogue = {
    preferNotToSay: { key: 'prefer_not_to_say' },
    fields: [
        { key: 'name', skippable: false }, { key: 'nick', skippable: true }, { key: 'where', skippable: true }, { key: 'face', skippable: true }],
    steps: [
        { key: 'account', fields: [] }, { key: 'who', onboardingStep: 'basics', fields: ['name', 'nick', 'where'], questions: [{ key: 'name' }, { key: 'nick' }] },
        { key: 'look', onboardingStep: 'basics', fields: ['face'], questions: [{ key: 'face', upload: {} }] }],
}
const person = { profile: {}, skippedFields: [], preferNotToShareFields: [] }
const step = (key, kind, need, state, more = {}) => ({ key, kind, need, state, ...more })

test('a screen is filled once each field was answered, skipped or declined', () => {
    assert.equal(screenToFill(catalogue, person, 'basics'), 'who')
    assert.equal(screenToFill(catalogue, { profile: { name: 'Kim' }, skippedFields: ['nick'], preferNotToShareFields: ['where'] }, 'basics'), 'look')
    assert.equal(screenToFill(catalogue, { profile: { name: 'Kim', face: 'x' }, skippedFields: ['nick', 'where'], preferNotToShareFields: [] }, 'basics'), null)
})

test('a person goes on at the first thing that was not asked', () => {
    const steps = [step('basics', 'fields', 'required', 'done'), step('q', 'questionnaire', 'required', 'current', { questionnaire: 'flow' })]
    const onboarding = { onboardingStatus: 'questionnaire_pending', next: { step: 'q' }, steps }
    assert.equal(routeToContinue(onboarding, catalogue, { ...person, profile: { name: 'Kim' } }), '/profile/who')
    const filled = { profile: { name: 'Kim', face: 'x' }, skippedFields: ['nick', 'where'], preferNotToShareFields: [] }
    assert.equal(routeToContinue(onboarding, catalogue, filled), '/questions/flow')
    assert.equal(routeToContinue({ onboardingStatus: 'complete', steps }, catalogue, filled), '/done')
    for (const [kind, route] of [['visual_preferences', '/pictures'], ['verification', '/verification'], ['id_verification', '/document'], ['terms', '/terms/x'], ['operator', '/wait/x'], ['dance', '/wait/x']]) {
        assert.equal(routeToContinue({ next: { step: 'x' }, steps: [step('x', kind, 'required', 'current')] }, catalogue, filled), route)
    }
})

test('a screen changes what was said, and skips what was left empty', () => {
    const screen = catalogue.steps[1]
    const said = { name: { state: 'answered', value: 'Kim' }, nick: { state: 'blank' } }
    assert.deepEqual(changesOf({ catalogue, screen, me: person, said }), { changes: { name: 'Kim' }, skips: [{ field: 'nick' }, { field: 'where' }] })
    assert.deepEqual(changesOf({ catalogue, screen, me: { ...person, profile: { nick: 'K' } }, said, found: { where: { latitude: 1 } } }),
        { changes: { name: 'Kim', where: { latitude: 1 } }, skips: [{ field: 'nick', clear: true }] })
    assert.deepEqual(changesOf({ catalogue, screen, me: person, said: { nick: { state: 'declined' } } }).changes, { nick: 'prefer_not_to_say' })
})

test('a photo stays where no other one was chosen', () => {
    const of = { catalogue, screen: catalogue.steps[2], said: { face: { state: 'blank' } } }
    assert.deepEqual(changesOf({ ...of, me: { ...person, profile: { face: 'x' } } }), { changes: {}, skips: [] })
    assert.deepEqual(changesOf({ ...of, me: person }).skips, [{ field: 'face' }])
    const kept = { ...of, said: { face: { state: 'kept' } } }
    assert.deepEqual(changesOf({ ...kept, me: { ...person, profile: { face: 'x' } } }), { changes: {}, skips: [] })
})

test('a problem is told at its field', () => {
    assert.deepEqual(errorsOf({ detail: 'No.' }, ['a']), [{ message: 'No.' }])
    const errors = [{ field: 'b', message: 'Wrong.' }, { field: 'c', message: 'Other.' }]
    assert.deepEqual(errorsOf({ errors }, ['a', 'b']), [{ key: 'b', message: 'Wrong.' }, { key: undefined, message: 'Other.' }])
    assert.deepEqual(errorsOf({ errors: [{ field: 'value', message: 'Wrong.' }] }, ['a']), [{ key: 'a', message: 'Wrong.' }])
})

test('an open session comes before a completed one', () => {
    assert.equal(sessionToOpen([]), undefined)
    assert.equal(sessionToOpen([{ id: 1, status: 'stopped' }]), undefined)
    assert.equal(sessionToOpen([{ id: 2, status: 'amended' }, { id: 1, status: 'in_progress' }]).id, 1)
    assert.equal(sessionToOpen([{ id: 2, status: 'completed' }, { id: 1, status: 'completed' }]).id, 2)
})

const queue = { writes: [], conflicts: [], refused: [] }

test('what waits on this device is shown before what the server has', () => {
    const view = { answers: [{ question: 'a', state: 'answered', value: 1, revision: 2 }, { question: 'a', subject: 's', state: 'skipped', revision: 1 }] }
    assert.deepEqual(givenTo({ question: 'b' }, view, queue), { state: 'unanswered', revision: 0 })
    assert.equal(givenTo({ question: 'a', subject: undefined }, view, queue).value, 1)
    assert.equal(givenTo({ question: 'a', subject: 's' }, view, queue).state, 'skipped')
    const writes = [{ question: 'a', state: 'answered', value: 3 }, { question: 'a', state: 'answered', value: 4 }]
    assert.deepEqual(givenTo({ question: 'a' }, view, { ...queue, writes }), { question: 'a', state: 'answered', value: 4, revision: 2 })
    const conflicts = [{ mine: { question: 'a' }, theirs: {} }]
    assert.equal(about({ question: 'a' }, { ...queue, conflicts }).conflict, conflicts[0])
    assert.equal(about({ question: 'b' }, { ...queue, conflicts }).conflict, undefined)
})

test('what the person has to decide is told with its screen', () => {
    const screens = [{ key: 'a', questions: [{ key: 'intro' }, { key: 'a' }] }, { key: 'b/s', subject: 's', questions: [{ key: 'b' }] }]
    const conflicts = [{ mine: { question: 'a' }, theirs: {} }]
    const error = { code: 'validation_failed', detail: 'No.' }
    const refused = [{ write: { question: 'b', subject: 's' }, error }, { write: { question: 'gone' }, error }]
    assert.deepEqual(undecided({ screens }, { ...queue, conflicts, refused }), [{ screen: screens[0] }, { screen: screens[1], error }])
    assert.deepEqual(undecided({ screens }, queue), [])
})

test('an answer is read in the words of its question', () => {
    const question = { options: [{ key: 'a', label: 'Apple' }, { key: 'b', label: 'Bread' }], declineLabel: 'No answer' }
    assert.deepEqual(textsOf(question, { state: 'answered', value: ['b', { other: 'Own' }] }), ['Bread', 'Own'])
    assert.deepEqual(textsOf({}, { state: 'answered', value: { unit: 'cm', value: 170 } }), ['170 cm'])
    assert.deepEqual(textsOf(question, { state: 'declined' }), ['No answer'])
    assert.deepEqual(textsOf(question, { state: 'skipped' }), [])
})

test('an answer is sent as what it is', () => {
    const given = { state: 'unanswered' }
    assert.deepEqual(writeOf({ type: 'text' }, { state: 'answered', value: 'x' }, given), { state: 'answered', value: 'x' })
    assert.deepEqual(writeOf({ type: 'text', skippable: true }, { state: 'blank' }, given), { state: 'skipped' })
    assert.equal(writeOf({ type: 'text' }, { state: 'blank' }, given), null)
    // The server refuses to skip a question that is answered.
    assert.deepEqual(writeOf({ type: 'text', skippable: true }, { state: 'blank' }, { state: 'answered' }), { state: 'unanswered' })
    assert.deepEqual(writeOf({ type: 'text', skippable: true }, { state: 'blank' }, { state: 'declined' }), { state: 'skipped' })
    assert.equal(writeOf({ type: 'text', skippable: true, upload: {} }, { state: 'kept' }, { state: 'answered' }), null)
    assert.deepEqual(writeOf({ type: 'text', skippable: true, upload: {} }, { state: 'blank' }, given), { state: 'skipped' })
    assert.deepEqual(writeOf({ type: 'text' }, { state: 'blank' }, { state: 'answered' }), { state: 'unanswered' })
    assert.deepEqual(writeOf({ type: 'info' }, { state: 'acknowledged' }, given), { state: 'acknowledged' })
    assert.equal(writeOf({ type: 'info' }, { state: 'acknowledged' }, { state: 'acknowledged' }), null)
})
