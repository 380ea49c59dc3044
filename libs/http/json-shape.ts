/** What parsing a JSON text will cost, seen without parsing it. */
export interface JsonShape {
  /** Brackets open at once, at most. */
  readonly depth: number;
  /** Keys, elements and objects, counted by the commas, colons and brackets between them. */
  readonly values: number;
}

/** One pass over the characters; brackets and commas within strings do not count. For any text, valid JSON or not. */
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

/** Where the closing quote stands; the end of the text when there is none. */
const endOfString = (json: string, start: number): number => {
  let i = start + 1;
  for (; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (c === 0x5c) i++;
    else if (c === 0x22) break;
  }
  return i;
};
