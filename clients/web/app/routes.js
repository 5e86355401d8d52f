// Where the person is: the part of the address behind `#`.

/** The route that is shown. */
export const route = () => plain(location.hash.slice(1), decodeURI) || '/'

/** A part of an address as a text; what cannot be decoded stays as it is. */
export function plain(text, decode = decodeURIComponent) {
    try {
        return decode(text)
    } catch {
        return text
    }
}

/** Leads to another page. The same route is drawn anew. */
export function go(to) {
    if (to === route()) dispatchEvent(new HashChangeEvent('hashchange'))
    else location.hash = to
}

/** Leads to another page, of which `Back` of the browser does not come back here. */
export function replace(to) {
    history.replaceState(null, '', `#${to}`)
    dispatchEvent(new HashChangeEvent('hashchange'))
}

/** The path of a key within a route. */
export const part = key => encodeURIComponent(key)
