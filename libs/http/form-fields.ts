/** Fields of a form, a multipart body or a query: more are refused before they are parsed. */
export const MAX_FIELDS = 1_000;

const AMPERSAND = 0x26;

/** How many fields `a=1&b=2` holds, empty ones between two `&` counted too. */
export const countFields = (text: string): number => {
  if (text === '') return 0;
  let count = 1;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) === AMPERSAND) count++;
  return count;
};
