import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { type Compiler } from './compile.js';

/** Missing in Node's own types. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

/** Limit of threads. Go starts one per processor, and the jail counts threads as processes. */
const THREADS = '4';

/** Loads esbuild's native program, which runs as a child of this process. */
export const loadNative = async (file: string): Promise<Compiler> => {
  // esbuild reads these variables when it is loaded.
  process.env.ESBUILD_BINARY_PATH = file;
  process.env.GOMAXPROCS = THREADS;
  const esbuild = await import('esbuild');
  await warmUp(esbuild);
  return esbuild;
};

/** Loads esbuild as WebAssembly in this process. Its file system is a stub without files. */
export const loadWasm = async (file: string): Promise<Compiler> => {
  // The code is used once, so optimizing it costs more than it saves.
  setFlagsFromString('--liftoff-only');
  // The browser build looks for its globals here.
  Object.assign(globalThis, { self: globalThis });
  const esbuild = await import('esbuild-wasm/lib/browser.js');
  const wasmModule = await WebAssembly.compile(readFileSync(file));
  await esbuild.initialize({ wasmModule, worker: false });
  await warmUp(esbuild);
  return esbuild;
};

/** Starts the program, or compiles its hot functions, before the first build. */
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
