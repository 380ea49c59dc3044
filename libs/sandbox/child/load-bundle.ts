import { writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { ES_MODULE } from '../protocol/es-module.js';
import { BESIDE_SCHEME } from '../protocol/packages.js';
import { splitBundle } from '../protocol/source-map.js';
import { mapStacks } from './source-map.js';

/** Path of a bundle, as stacks name it. The one of the process's start has the number 0. */
const bundleFile = (bundle: number): string => `${process.cwd()}/component${bundle === 0 ? '' : bundle}.js`;

let packages: string | null = null;

/** Sets the folder of the bundle's packages. */
export const usePackages = (folder: string | null): void => void (packages = folder);

/** `require` for a bundle: modules of Node, and files of packages beside the bundle. */
const requireIn = (file: string): NodeJS.Require => {
  const plain = createRequire(file);
  const folder = packages;
  if (folder === null) return plain;
  const beside = createRequire(`${folder}/index.js`);
  const load = (name: string): unknown =>
    name.startsWith(BESIDE_SCHEME) ? beside(`${folder}/${name.slice(BESIDE_SCHEME.length)}`) : plain(name);
  return Object.assign(load, plain);
};

/** Evaluates a bundle as a CommonJS module, which may require Node's built-in modules. */
export const loadBundle = (code: string, file = bundleFile(0)): unknown => {
  const module = new Module(file) as Module & { _compile(code: string, file: string): void };
  module.filename = file;
  module.paths = [];
  module.require = requireIn(file);
  module._compile(code, file);
  return module.exports;
};

/**
 * Calls `then` with a function that returns the bundle's exports or throws its error: at once for CommonJS, later for
 * an ES module (docs/reference/component-model.md#top-level-await).
 */
const openBundle = (code: string, file: string, then: (exports: () => unknown) => void): void => {
  if (!code.startsWith(ES_MODULE)) return then(() => loadBundle(code, file));
  importBundle(code, file).then(
    (exported) => then(() => exported),
    (thrown: unknown) =>
      then(() => {
        throw thrown;
      }),
  );
};

/** Opens a bundle and maps the stacks of its code to the author's lines. */
export const openMapped = (bundle: number, raw: Buffer, then: (exports: () => unknown) => void): void => {
  const file = bundleFile(bundle);
  const { code, map } = splitBundle(raw);
  mapStacks(file, () => map?.toString('utf8'));
  openBundle(code, file, then);
};

const importBundle = async (code: string, file: string): Promise<unknown> => {
  // Node reads it as an ES module, because of its syntax.
  writeFileSync(file, code);
  // Code that mixes `require` with `import` works in a CommonJS bundle too.
  Object.assign(globalThis, { require: requireIn(file) });
  const exported = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  return 'default' in exported ? { __esModule: true, default: exported.default } : { __esModule: true };
};
