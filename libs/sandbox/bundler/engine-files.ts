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
 * Which esbuild a build process may hold. Its native program can be held by a jail of the operating system alone: without
 * one, and where there is no program for this machine, it is WebAssembly, several times slower on large components.
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

/** Whether users other than its owner can reach and read a file. */
export const isReadableByAll = (file: string): boolean => {
  if ((statSync(file).mode & 0o004) === 0) return false;
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === path.dirname(folder)) return true;
  }
};
