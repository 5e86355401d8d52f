/**
 * A path of the API. Each value that is put in stays one segment.
 * @param {TemplateStringsArray} texts
 * @param {...string} values
 */
export function path(texts: TemplateStringsArray, ...values: string[]): string;
