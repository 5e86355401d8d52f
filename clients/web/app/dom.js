// Elements are made from texts only: nothing here reads markup.

/**
 * Makes an element.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} attributes A function is a listener (`onclick`). `undefined`, `null` and `false` are left out,
 *     `true` is an attribute without a value. `value` and `checked` are set as properties.
 * @param {...(Node | string | null | undefined | false)} children
 */
export function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag)
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue
        if (typeof value === 'function') element.addEventListener(name.slice(2), value)
        else if (name === 'value' || name === 'checked') element[name] = value
        else element.setAttribute(name, value === true ? '' : String(value))
    }
    element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false))
    return element
}

/** A button that submits nothing. */
export const button = (text, onclick, attributes = {}) =>
    h('button', { type: 'button', class: 'secondary', onclick, ...attributes }, text)

/** A link to a page of the app. */
export const link = (text, route, attributes = {}) => h('a', { href: `#${route}`, ...attributes }, text)

/** Text that only screen readers read. */
export const hidden = text => h('span', { class: 'hidden' }, text)
