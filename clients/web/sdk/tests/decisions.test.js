import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

import * as decisions from '../decisions.js'

const { limits, decisions: groups } = JSON.parse(readFileSync(new URL('../../../cases.json', import.meta.url), 'utf8'))

/** Those that do not take their input in one object. @type {Record<string, (input: any) => unknown>} */
const calls = {
    withWrite: ({ queue, write }) => decisions.withWrite(queue, write),
    nextBatch: ({ queue }) => decisions.nextBatch(queue).map(write => write.mutationId),
    afterBatch: ({ queue, sent, outcome }) => decisions.afterBatch(queue, sent, outcome),
    afterChoice: ({ queue, mutationId, choice }) => decisions.afterChoice(queue, mutationId, choice),
}

test('the limits are those of all clients', () => assert.deepEqual(decisions.LIMITS, limits))

for (const { decision, cases } of groups) {
    describe(decision, () => {
        const decide = calls[decision] ?? Reflect.get(decisions, decision)
        for (const { says, input, output } of cases) {
            test(says, () => {
                const before = structuredClone(input)
                assert.deepEqual(decide(input), output)
                assert.deepEqual(input, before, 'the input is left as it is')
            })
        }
    })
}

test('a request has at most a hundred writes, and 60,000 bytes of them', () => {
    /** @param {number} number @param {string} value */
    const write = (number, value) => ({ mutationId: `m${number}`, question: `q${number}`, state: 'answered', value })
    const many = Array.from({ length: 150 }, (_, number) => write(number, 'a'))
    assert.equal(decisions.nextBatch({ ...decisions.emptyQueue(), writes: many }).length, 100)
    const large = Array.from({ length: 9 }, (_, number) => write(number, 'å'.repeat(10_000)))
    assert.deepEqual(decisions.nextBatch({ ...decisions.emptyQueue(), writes: large }).length, 2)
    assert.equal(decisions.nextBatch({ ...decisions.emptyQueue(), writes: [write(1, 'a'.repeat(70_000))] }).length, 1)
})
