import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { type Compiler } from './compile.js';

/** Node's own types leave out what it has of WebAssembly. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

/** Go starts a thread for each processor, and the jail counts threads as processes. */
const THREADS = '4';

/** esbuild's program, as a child of this process. */
export const loadNative = async (file: string): Promise<Compiler> => {
  // Read when the module is loaded.
  process.env.ESBUILD_BINARY_PATH = file;
  process.env.GOMAXPROCS = THREADS;
  const esbuild = await import('esbuild');
  await warmUp(esbuild);
  return esbuild;
};

/** esbuild as WebAssembly, in this process. Its file system is a stub: no path leads to a file. */
export const loadWasm = async (file: string): Promise<Compiler> => {
  // Used once: optimizing costs more than it brings back.
  setFlagsFromString('--liftoff-only');
  // Where the browser's build looks for its globals.
  Object.assign(globalThis, { self: globalThis });
  const esbuild = await import('esbuild-wasm/lib/browser.js');
  const wasmModule = await WebAssembly.compile(readFileSync(file));
  await esbuild.initialize({ wasmModule, worker: false });
  await warmUp(esbuild);
  return esbuild;
};

/** Starts the program, or compiles its hot functions, before there is something to build. */
const warmUp = async (compiler: Compiler): Promise<void> => {
  await compiler.build({
    stdin: { contents: 'export default { a: (b) => b?.c ?? 1 }', loader: 'ts' },
    bundle: true,
    write: false,
    format: 'cjs',
    target: 'node20',
    logLevel: 'silent',
  });
};
