// What the person is told about the connection, and about answers that wait for one.
import { showBanner } from './page.js'
import { t } from './words.js'

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

/** Tells the person when the network goes, and when it comes back. */
export function watchNetwork() {
    addEventListener('offline', update)
    addEventListener('online', update)
}
