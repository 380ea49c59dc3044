import { builtinModules } from 'node:module';
import path from 'node:path';
import { DomainError } from '#libs/kernel/domain-error.js';
import { nearMiss } from '#libs/kernel/near-miss.js';
import { insideOf, quoted, type ComponentFiles } from './component-files.js';

const ENDINGS = ['', '.mjs', '.js', '.cjs', '.ts', '.mts', '.cts', '.json', '/index.mjs', '/index.js', '/index.ts'];
/** Packages that resolve to shims. */
const SHIMS: ReadonlyMap<string, string> = new Map([
  ['@pipedream/platform', 'platform'],
  ['@pipedream/types', 'types'],
  ['sluice', 'sluice'],
]);
/** Shims that only other shims import: their import to the name of the shim. A bundle contains them when it needs them. */
const INNER_SHIMS: ReadonlyMap<string, string> = new Map([['./axios-library.js', 'axios-library']]);
export const SHIM_NAMES: readonly string[] = [...SHIMS.values(), ...INNER_SHIMS.values()];

/** Resolves the import `name` within a shim. Returns undefined for a file that the shim itself contains. */
export const innerShim = (name: string): string | undefined => INNER_SHIMS.get(name);
export const isInnerShim = (shim: string): boolean => [...INNER_SHIMS.values()].includes(shim);

/** Shim of a package, or undefined for a package without one. */
export const shimOf = (name: string): string | undefined => SHIMS.get(withoutVersion(name));

/** Result of resolving an import in a component's file. */
export type Resolved =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'shim'; readonly name: string }
  | { readonly kind: 'package'; readonly specifier: string }
  | { readonly kind: 'refused'; readonly error: DomainError };

/** Resolves the import `name` in the file `importer`. The caller handles Node's modules. */
export const resolveImport = ({ texts }: ComponentFiles, name: string, importer: string): Resolved => {
  const shim = shimOf(name);
  if (shim !== undefined) return { kind: 'shim', name: shim };
  if (/^\.{1,2}(\/|$)/.test(name)) return resolveRelative(texts, name, importer);
  if (path.posix.isAbsolute(name) || /^[a-z][a-z0-9+.-]*:/i.test(name))
    return refused(
      `"${quoted(name)}" cannot be imported (in ${importer}): import modules of Node, and files of the component by relative path`,
      { file: importer },
    );
  const module = nearMiss(name, MODULES_BELOW);
  if (module !== undefined)
    return refused(`${importer} imports "${quoted(name)}", which is no module of Node: "${module}" is probably meant`, {
      file: importer,
    });
  return { kind: 'package', specifier: name };
};

/** Modules of Node whose names have a slash. Without this check, a misspelt one would be looked up as an npm package. */
const MODULES_BELOW = builtinModules.filter((name) => /^[a-z][a-z_]*\/[a-z]+$/.test(name));

const refused = (message: string, details: Readonly<Record<string, unknown>>): Resolved => ({
  kind: 'refused',
  error: new DomainError('component.invalid', message, details),
});

const resolveRelative = (texts: ReadonlyMap<string, string>, name: string, importer: string): Resolved => {
  let wanted: string;
  try {
    wanted = insideOf(path.posix.dirname(importer), name);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // At the root nothing lies above, and code that was taken out of a folder imports from above.
    return importer.includes('/')
      ? { kind: 'refused', error }
      : refused(`${error.message}, or give the path of the code among the files as file_name`, error.details ?? {});
  }
  const candidates = ENDINGS.map((ending) => `${wanted}${ending}`);
  // TypeScript imports name the compiled file of a .ts file.
  if (/\.[mc]?js$/.test(wanted)) candidates.push(wanted.replace(/js$/, 'ts'));
  const found = candidates.find((candidate) => texts.has(candidate));
  if (found !== undefined) return { kind: 'file', path: found };
  return refused(
    `${importer} imports "${quoted(name)}", which is not among the component's files: give it in \`files\``,
    {
      file: importer,
      missing: wanted,
    },
  );
};

/** Removes the version, so that `name@1.2.3/sub` becomes `name/sub`. */
export const withoutVersion = (specifier: string): string => specifier.replace(/^((?:@[^/@]+\/)?[^/@]+)@[^/]+/, '$1');

/** `/sub` of `name@1.2.3/sub`, or the empty text. */
export const subPathOf = (specifier: string): string =>
  /^(?:@[^/]+\/[^/]+|[^@/][^/]*)(\/.*)$/.exec(specifier)?.[1] ?? '';
