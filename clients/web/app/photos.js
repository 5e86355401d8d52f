// Pictures from this device: a photo of the profile, and what a verification asks for.
import { server } from './server.js'

const taken = ['image/jpeg', 'image/png']
const most = 8 * 1024 * 1024
const side = 2048
/** How many photos a person may have. */
const places = 6
/** The IDs of files that were sent: who tries again after a failure behind it sends no second picture. */
const sent = new WeakMap()

/**
 * A picture in a form that the server takes. A browser that can show the picture can also make a JPEG of it.
 *
 * @param {File} file
 * @returns {Promise<Blob>}
 */
async function asTaken(file) {
    if (taken.includes(file.type) && file.size <= most) return file
    const bitmap = await createImageBitmap(file)
    const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height))
    const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale))
    canvas.getContext('2d').drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 })
}

/**
 * Sends a picture to an address that is asked for with its type and length.
 *
 * @param {File} file
 * @param {(about: {contentType: string, length: number}) => Promise<object>} ask
 * @returns what the server has answered with the address
 */
export async function sendPicture(file, ask) {
    const picture = await asTaken(file)
    const promised = await ask({ contentType: picture.type, length: picture.size })
    await server.upload(promised.uploadUrl, picture)
    return promised
}

/**
 * Sends a photo of the person and gives it the first place.
 *
 * @param {File} file
 * @param {{href: string, kind: string, placesHref: string}} upload as the field or the question has it
 * @returns {Promise<string | null>} the picture's ID; `null` if there is no place left
 */
export async function sendPhoto(file, upload) {
    const { photos } = await server.send({ method: 'GET', path: upload.placesHref, access: 'session' })
    const others = photos.map(photo => photo.mediaId)
    if (others.includes(sent.get(file))) return sent.get(file)
    if (others.length >= places) return null
    if (!sent.has(file)) {
        const { mediaId } = await sendPicture(file, about => server.send({
            method: 'POST', path: upload.href, access: 'session', keyed: true, body: { kind: upload.kind, ...about } }))
        sent.set(file, mediaId)
    }
    const mediaId = sent.get(file)
    await server.send({ method: 'PUT', path: upload.placesHref, access: 'session', body: { photos: [mediaId, ...others] } })
    return mediaId
}
