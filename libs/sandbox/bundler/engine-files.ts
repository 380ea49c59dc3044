import { accessSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type EngineKind } from './build-message.js';

export interface EngineFile {
  readonly kind: EngineKind;
  readonly file: string;
}

const require = createRequire(import.meta.url);

/**
 * Chooses the esbuild of a build process. The native program needs a jail of the operating system. Without a jail or a
 * program for this machine, it is WebAssembly, which is several times slower on large components.
 */
export const engineFor = (hasJail: boolean): EngineFile => {
  const native = hasJail ? nativeFile() : undefined;
  return native === undefined
    ? { kind: 'wasm', file: require.resolve('esbuild-wasm/esbuild.wasm') }
    : { kind: 'native', file: native };
};

const nativeFile = (): string | undefined => {
  const name = `@esbuild/${process.platform}-${process.arch}/bin/esbuild`;
  try {
    const file = createRequire(require.resolve('esbuild')).resolve(name);
    accessSync(file, constants.X_OK);
    return file;
  } catch {
    // Not installed for this platform.
    return undefined;
  }
};

/** True when every user can reach and read the file. */
export const isReadableByAll = (file: string): boolean => {
  if ((statSync(file).mode & 0o004) === 0) return false;
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === path.dirname(folder)) return true;
  }
};
