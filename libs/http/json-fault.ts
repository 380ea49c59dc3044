const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
const ESCAPE = /\\u[0-9a-fA-F]{4}/y;
/** Characters after a backslash, other than `u`. */
const SIMPLE: ReadonlySet<number> = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));
const [QUOTE, BACKSLASH, FIRST_PLAIN] = [0x22, 0x5c, 0x20];

/**
 * Position at which a text stops being JSON; undefined when it is JSON. The engine's own error names a position for some
 * faults only.
 */
export const faultOf = (text: string): number | undefined => {
  const open: string[] = [];
  let at = 0;
  const takes = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const taken = pattern.test(text);
    if (taken) at = pattern.lastIndex;
    return taken;
  };
  const next = (): string => {
    takes(SPACE);
    return text.charAt(at);
  };
  const takesString = (): boolean => {
    if (next() !== '"') return false;
    at++;
    // By character, because a pattern for each escape would take a second for a body of the largest size.
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) return ++at > 0;
      if (unit === BACKSLASH) {
        const isSimple = SIMPLE.has(text.charCodeAt(at + 1));
        if (isSimple) at += 2;
        else if (!takes(ESCAPE)) return false;
      } else if (unit >= FIRST_PLAIN) at++;
      else return false;
    }
  };
  const takesKey = (): boolean => takesString() && next() === ':' && ++at > 0;
  for (;;) {
    const first = next();
    if (first === '{' || first === '[') {
      at++;
      const end = first === '{' ? '}' : ']';
      if (next() === end) at++;
      else {
        open.push(end);
        if (end === '}' && !takesKey()) return at;
        continue;
      }
    } else if (first === '"' ? !takesString() : !takes(SCALAR)) return at;
    // A value has ended, and containers may end with it.
    while (open.length > 0 && next() === open.at(-1)) {
      open.pop();
      at++;
    }
    const end = open.at(-1);
    if (end === undefined) return next() === '' ? undefined : at;
    if (next() !== ',') return at;
    at++;
    if (end === '}' && !takesKey()) return at;
  }
};
