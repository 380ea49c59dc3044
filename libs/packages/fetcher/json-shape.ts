/** Nesting beyond which a description is refused. Real ones have fewer than ten levels. */
export const MAX_DEPTH = 100;
/** Values beyond which a description is refused, because objects take many times the bytes of their text. */
export const MAX_VALUES = 4_000_000;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const ARRAY = 91;
const ARRAY_END = 93;
const OBJECT = 123;
const OBJECT_END = 125;

/** Returns why a JSON text would take too much memory as objects, or undefined. Whether it is JSON is not checked. */
export const wrongShape = (
  json: Buffer,
  { depth: maxDepth, values: maxValues } = { depth: MAX_DEPTH, values: MAX_VALUES },
): string | undefined => {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      // Most of a description is text, which is skipped by native code.
      at = endOfString(json, at);
      if (at < 0) return undefined;
    } else if (byte === ARRAY || byte === OBJECT) {
      if (++depth > maxDepth) return `nests more than ${maxDepth} levels deep`;
      values++;
    } else if (byte === ARRAY_END || byte === OBJECT_END) depth--;
    else if (byte === COMMA) values++;
    if (values > maxValues) return `has more than ${maxValues} values`;
  }
  return undefined;
};

const endOfString = (json: Buffer, start: number): number => {
  for (let end = json.indexOf(QUOTE, start + 1); end >= 0; end = json.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return -1;
};
