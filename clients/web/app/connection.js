// What the person is told about the connection, and about answers that wait for one.
import { showBanner } from './page.js'
import { t } from './words.js'

/** How long a page waits for answers to arrive before it goes on without, in milliseconds. */
export const patience = 4000

let waiting = 0
let stop

function update() {
    showBanner([navigator.onLine ? '' : t('offlineBanner'), waiting ? t('waiting', { count: waiting }) : ''].filter(Boolean).join(' '))
}

/** Tells the person about answers of this queue that could not be sent. */
export function watch(queue) {
    stop?.()
    stop = queue.onChange(({ writes, error }) => {
        waiting = error || !navigator.onLine ? writes.length : 0
        update()
    })
}

/** Sends what waits in queues, for a bounded time. What then still waits is sent later. */
export const sendInTime = queues => Promise.race([
    Promise.all(queues.map(queue => queue.send())), new Promise(resolve => setTimeout(resolve, patience))])

/** Tells the person when the network goes, and when it comes back. */
export function watchNetwork() {
    addEventListener('offline', update)
    addEventListener('online', update)
}
