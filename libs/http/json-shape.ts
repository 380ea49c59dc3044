/** Measures of a JSON text that decide the cost of parsing it. */
export interface JsonShape {
  /** Largest number of brackets open at once. */
  readonly depth: number;
  /** Number of keys, elements and containers, counted by commas, colons and brackets. */
  readonly values: number;
}

/** Measures a text in one pass, ignoring brackets and commas within strings. The text need not be valid JSON. */
export const shapeOf = (json: string): JsonShape => {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  for (let i = 0; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (c === 0x22) i = endOfString(json, i);
    else if (c === 0x7b || c === 0x5b) {
      values++;
      if (++depth > deepest) deepest = depth;
    } else if (c === 0x7d || c === 0x5d) depth--;
    else if (c === 0x2c || c === 0x3a) values++;
  }
  return { depth: deepest, values };
};

/** Index of the closing quote, or the length of the text when there is none. */
const endOfString = (json: string, start: number): number => {
  let i = start + 1;
  for (; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (c === 0x5c) i++;
    else if (c === 0x22) break;
  }
  return i;
};
