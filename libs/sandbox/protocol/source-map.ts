/**
 * Place of a source map within a stored bundle (docs/adr/0020-stacks-of-authors.md). The build jail appends the map, and
 * only a child that met an error reads it. The server passes both on as bytes.
 */

/** Namespaces of a bundle's inputs, and of the sources of its map. A file of a package has any other name. */
export const COMPONENT = 'component';
export const SHIM = 'shim';

/** Size limit of a map. A larger one keeps lines only, or is left out. */
export const MAX_MAP_BYTES = 1024 * 1024;

const START = '\n//# sluice-source-map ';
const DIGITS = 8;
/** Bytes behind the map: a space, its length, and the end of the line. */
const END_BYTES = DIGITS + 2;

/** Appends a map as the last line, a comment. JSON may hold U+2028 and U+2029, which would end the comment. */
export const withSourceMap = (code: Uint8Array, map: string): Buffer => {
  const json = map.replace(/[\n\r\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const bytes = String(Buffer.byteLength(json)).padStart(DIGITS, '0');
  return Buffer.concat([code, Buffer.from(`${START}${json} ${bytes}\n`)]);
};

export interface BundleParts {
  readonly code: string;
  /** Bytes of the map, copied. Undefined for a bundle without one. */
  readonly map: Buffer | undefined;
}

/** Splits a bundle without reading its map, at a cost that does not depend on the size of the code. */
export const splitBundle = (bundle: Buffer): BundleParts => {
  const end = bundle.length - END_BYTES;
  const [, digits] = /^ (\d{8})\n$/.exec(bundle.toString('latin1', Math.max(end, 0))) ?? [];
  const bytes = Number(digits);
  const start = end - bytes - START.length;
  const isMap = digits !== undefined && start >= 0 && bundle.toString('latin1', start, end - bytes) === START;
  if (!isMap) return { code: bundle.toString('utf8'), map: undefined };
  const code = bundle.toString('utf8', 0, start);
  return { code, map: bytes > MAX_MAP_BYTES ? undefined : Buffer.from(bundle.subarray(end - bytes, end)) };
};
