import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import test from 'node:test'
import en from '../app/words.en.js'
import sv from '../app/words.sv.js'

const folder = new URL('../app/', import.meta.url)
const forms = text => typeof text === 'string' ? [text] : Object.values(text)
const places = text => [...new Set(forms(text).flatMap(form => form.match(/\{\w+\}/g) ?? []))].sort()

test('both languages have the same words, with the same values in them', () => {
    assert.deepEqual(Object.keys(sv), Object.keys(en))
    for (const key of Object.keys(en)) assert.deepEqual(places(sv[key]), places(en[key]), key)
})

test('each word of the code is there, and each that is there is used', async () => {
    const names = (await readdir(folder)).filter(name => name.endsWith('.js') && !name.startsWith('words.'))
    const code = (await Promise.all(names.map(name => readFile(new URL(name, folder), 'utf8')))).join('\n')
    const named = [...code.matchAll(/\bt\('(\w+)'/g)].map(([, key]) => key)
    assert.deepEqual(named.filter(key => !(key in en)), [])
    const parts = [...code.matchAll(/[`'](\w*)\$\{|named\('(\w+)'/g)].map(([, before, kind]) => before ?? `${kind}_`).filter(Boolean)
    const built = key => parts.some(part => key.startsWith(part)) || /^(verification|document|session|device)[A-Z_]/.test(key)
    const isNamed = key => code.includes(`'${key}'`) || code.includes(`'${key.replace(/Text$/, '')}'`)
    assert.deepEqual(Object.keys(en).filter(key => !isNamed(key) && !built(key)), [])
})
