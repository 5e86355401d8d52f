/** A random UUID, also on pages that are no secure context. */
export function newId() {
    const bytes = crypto.getRandomValues(new Uint8Array(16))
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    const text = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
    return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
