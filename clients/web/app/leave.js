// Signing out.
import { sendInTime } from './connection.js'
import { h } from './dom.js'
import { go } from './routes.js'
import { server } from './server.js'
import { forget } from './store.js'
import { t } from './words.js'

/** How many answers of the person lie on this device alone: they wait, or the person has to decide about them. */
export async function unsent() {
    const states = await Promise.all((await server.queues()).map(queue => queue.load()))
    return states.reduce((count, { writes, conflicts, refused }) => count + writes.length + conflicts.length + refused.length, 0)
}

/** Signs out. If answers would be lost, it sends what it can, and asks about the rest. */
export async function leave() {
    await sendInTime(await server.queues())
    return await unsent() ? go('/leave') : signOut()
}

/** Ends the session, and takes away what this browser keeps about the person. */
async function signOut() {
    await server.signOut()
    forget()
    go('/sign-in')
}

/** The page that asks before answers are lost. */
export async function leavePage() {
    const count = await unsent()
    if (!count) return { go: '/saved' }
    return {
        title: t('leaveTitle'), content: [h('p', {}, t('leaveText', { count }))], back: '/saved', action: t('leaveDo'), fields: [],
        submit: signOut,
    }
}
