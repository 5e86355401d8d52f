/**
 * A path of the API. Each value that is put in stays one segment.
 * @param {TemplateStringsArray} texts
 * @param {...string} values
 */
export function path(texts, ...values) {
    return texts.map((text, at) => at < values.length ? text + encodeURIComponent(values[at]) : text).join('')
}
