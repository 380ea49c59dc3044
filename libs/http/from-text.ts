/** Transforms for parameters that arrive as text in a query and in their own type in a body. */

export const flagFromText = ({ value }: { value: unknown }): unknown =>
  value === 'true' ? true : value === 'false' ? false : value;

/** An empty text is null, as `?timeout_s=` clears the value. */
export const integerFromText = ({ value }: { value: unknown }): unknown =>
  value === '' ? null : typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
