// Texts to accept.
import { h } from './dom.js'
import { draw } from './fields.js'
import { go } from './routes.js'
import { server } from './server.js'
import { t } from './words.js'

/** The page of a step with texts. */
export async function terms([key]) {
    const { steps, additions = [] } = await server.viewOnboarding()
    const step = [...steps, ...additions].find(each => each.key === key)
    const texts = step?.terms?.filter(text => !text.acceptedAt) ?? []
    if (texts.length === 0) return { go: '/' }
    const field = draw({
        key: 'accepted', type: 'multi_choice', control: 'chips', required: true, label: t('termsQuestion'),
        options: texts.map((text, index) => ({ key: `t${index}`, label: t('acceptText', text) })),
    })
    return {
        title: t('termsTitle'),
        content: [h('ul', { class: 'links' }, texts.map(text => h('li', {},
            h('a', { href: text.url, target: '_blank', rel: 'noopener noreferrer' }, t('readText', text)))))],
        fields: [{ ...field, required: t('acceptAll') }], action: t('accept'),
        async submit(said) {
            if (said.accepted.value.length < texts.length) return [{ key: 'accepted', message: t('acceptAll') }]
            await server.acceptTerms({ body: { documents: texts.map(({ document, version }) => ({ document, version })) } })
            go('/')
        },
    }
}
