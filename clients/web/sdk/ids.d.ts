/** A random UUID, also on pages that are no secure context. */
export function newId(): string;
