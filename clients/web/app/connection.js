// What the person is told about the connection, and about answers that wait for one.
import { showBanner } from './page.js'
import { t } from './words.js'

let waiting = 0
let stop

function update() {
    const words = navigator.onLine ? (waiting ? t('waiting', { count: waiting }) : '') : [t('offlineBanner'), waiting ? t('waiting', { count: waiting }) : ''].join(' ')
    showBanner(words)
}

/** Tells the person about answers of this queue that could not be sent. */
export function watch(queue) {
    stop?.()
    const tell = ({ writes, error }) => {
        waiting = error || !navigator.onLine ? writes.length : 0
        update()
    }
    stop = queue.onChange(tell)
}

/** Tells the person when the network goes, and when it comes back. */
export function watchNetwork() {
    addEventListener('offline', update)
    addEventListener('online', update)
}
