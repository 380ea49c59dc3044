/** Largest number of fields in a form or a query of the API. More are refused before parsing. */
export const MAX_FIELDS = 1_000;

const AMPERSAND = 0x26;

/** Counts the fields of a text such as `a=1&b=2`, including empty ones between two `&`. */
export const countFields = (text: string): number => {
  if (text === '') return 0;
  let count = 1;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) === AMPERSAND) count++;
  return count;
};
