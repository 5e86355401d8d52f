// The account: ways to sign in, devices, recovery, the person's data.
import { button, h, link } from './dom.js'
import { leave } from './leave.js'
import { acting } from './page.js'
import { go, part, replace } from './routes.js'
import { problemOf, server } from './server.js'
import { forget } from './store.js'
import { moment, named, t } from './words.js'

/** Pages behind the account. */
export const accountRoutes = [
    ['/account/export', exportPage], ['/account/delete', deletePage], ['/account/case/:id', casePage], ['/account/lock/:to', lockPage],
    ['/account/end/:id', values => endPage(values, 'session')], ['/account/remove/:id', values => endPage(values, 'device')],
    ['/account/unlink/:provider', unlinkPage],
]
const openCases = ['held', 'identity_required', 'in_review', 'approved', 'completing', 'contested']

/** The page with everything about the account. */
export async function account() {
    const [{ sessions }, { devices }, identities, { cases, lockEnabled }] = await Promise.all([
        server.listSessions(), server.listDevices(), server.listIdentities(), server.listOwnCases()])
    const ways = [
        identities.email && { key: 'email', name: named('provider', 'email'), ...identities.email },
        ...identities.identities.map(each => ({ key: each.provider, name: named('provider', each.provider), ...each }))].filter(Boolean)
    return {
        title: t('account'), back: '/',
        content: [
            ...(cases.length ? [h('h2', {}, t('cases')), list(cases.map(each => [
                [named('case', each.status), t('askedAt', { at: moment(each.requestedAt) })],
                openCases.includes(each.status) && link(t('lookAtCase'), `/account/case/${each.recoveryId}`)]))] : []),
            h('h2', {}, t('sessions')), list(sessions.map(each => [
                [each.device.name, each.current ? t('thisSession') : t('usedAt', { at: moment(each.lastUsedAt) })],
                !each.current && link(t('endSession'), `/account/end/${each.id}`)])),
            h('h2', {}, t('devices')), list(devices.map(each => [
                [each.name, each.current ? t('thisDevice') : t('usedAt', { at: moment(each.lastUsedAt) })],
                !each.current && link(t('removeDevice'), `/account/remove/${each.id}`)])),
            ...(ways.length ? [h('h2', {}, t('identities')), list(ways.map(way => [
                [way.name, way.email ?? '', t('linkedAt', { at: moment(way.linkedAt) })],
                link(t('unlink'), `/account/unlink/${part(way.key)}`)]))] : []),
            h('h2', {}, t('lock')), h('p', {}, t(lockEnabled ? 'lockIsOn' : 'lockIsOff')),
            link(t(lockEnabled ? 'lockOff' : 'lockOn'), `/account/lock/${lockEnabled ? 'off' : 'on'}`, { class: 'act' }),
            h('h2', {}, t('yourData')),
            h('ul', { class: 'links' }, ['export', 'delete'].map(each => h('li', {}, link(t(each), `/account/${each}`)))),
        ],
        further: [button(t('signOut'), acting(leave))],
    }
}

const list = rows => h('ul', { class: 'rows' }, rows.map(([texts, act]) => h('li', {},
    h('div', {}, texts.map((text, index) => h('p', { class: index ? 'hint' : 'what' }, text))), act || null)))

/** A page that asks before something is done. */
const confirmation = (title, text, action, submit) => ({
    title, content: [h('p', {}, text)], back: '/account', action, fields: [], submit })

function endPage([id], kind) {
    return confirmation(t(`${kind}EndTitle`), t(`${kind}EndText`), t(`${kind}End`), async () => {
        await (kind === 'session' ? server.endSession({ session: id }) : server.removeDevice({ device: id }))
        go('/account')
    })
}

function unlinkPage([provider]) {
    const name = named('provider', provider)
    return confirmation(t('unlinkTitle', { name }), t('unlinkText'), t('unlink'), async () => {
        await (provider === 'email' ? server.unlinkEmail() : server.unlinkIdentity({ provider }))
        go('/account')
    })
}

function lockPage([to]) {
    const words = to === 'on' ? 'lockOn' : 'lockOff'
    return confirmation(t(words), t(`${words}Text`), t(words), async () => {
        await server.setRecoveryLock({ body: { enabled: to === 'on' } })
        go('/account')
    })
}

/** A recovery of the person's own account, which they may stop. */
async function casePage([id]) {
    const { cases } = await server.listOwnCases()
    const found = cases.find(each => each.recoveryId === id)
    if (!found || !openCases.includes(found.status)) return { go: '/account' }
    return {
        title: t('caseTitle'), back: '/account',
        content: [h('p', {}, t('caseText', { at: moment(found.requestedAt), until: moment(found.holdUntil) })), h('p', {}, t('caseMine'))],
        action: t('notMe'), fields: [],
        async submit() {
            await server.disputeRecovery({ recovery: id, body: {} })
            go('/account')
        },
    }
}

function exportPage() {
    const place = h('div', { role: 'status' })
    return {
        title: t('export'), content: [h('p', {}, t('exportText')), place], back: '/account', action: t('exportDo'), fields: [],
        async submit() {
            const data = await server.exportAccount()
            const file = new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' })
            place.replaceChildren(h('a', { href: URL.createObjectURL(file), download: 'vestibule.json' }, t('exportSave')))
        },
    }
}

function deletePage() {
    return confirmation(t('delete'), t('deleteText'), t('deleteDo'), async () => {
        try {
            await server.deleteAccount()
        } catch (error) {
            // An earlier try had its effect, and its answer was lost.
            if (problemOf(error)?.code !== 'token_revoked') throw error
        }
        await server.forget()
        forget()
        replace('/sign-in')
    })
}
