/** A parsed import of a package: `name` or `name@range`, each with an optional sub-path. */
export interface Specifier {
  readonly name: string;
  /** Version, range or tag. Empty for none, which means the newest. */
  readonly range: string;
  readonly subpath: string;
}

const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
const RANGE = /^[\w.^~<>=*+|-]{1,128}$/;
const MAX_NAME = 214;
const SHAPE = /^((?:@[^/@]+\/)?[^/@]+)(?:@([^/]*))?(?:\/(.*))?$/;

export const isPackageName = (name: string): boolean =>
  name.length <= MAX_NAME && NAME.test(name) && name !== 'node_modules' && name !== 'favicon.ico';

/** Scope of a package's name, such as `@acme`, or null. */
export const scopeOf = (name: string): string | null => /^(@[^/]+)\//.exec(name)?.[1] ?? null;

/** Returns undefined for a text that is not a specifier of a registry's package. */
export const parseSpecifier = (specifier: string): Specifier | undefined => {
  const [, name = '', range, subpath = ''] = SHAPE.exec(specifier) ?? [];
  if (!isPackageName(name)) return undefined;
  if (range !== undefined && !RANGE.test(range)) return undefined;
  return { name, range: range ?? '', subpath };
};
