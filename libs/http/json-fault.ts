const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

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
    do takes(PLAIN);
    while (takes(ESCAPE));
    if (text.charAt(at) !== '"') return false;
    at++;
    return true;
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
