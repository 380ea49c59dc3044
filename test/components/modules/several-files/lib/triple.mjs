export const triple = (n) => 3 * n;
