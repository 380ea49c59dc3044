/** Each time from the start of the text: a pattern with `g` or `y` would go on where it was. */
export const fitsPattern = ({ source, flags }: RegExp, text: string): boolean =>
  new RegExp(source, flags.replace(/[gy]/g, '')).test(text);
