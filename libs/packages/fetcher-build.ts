import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Bundles the process that fetches packages into one file, from the sources in `packages` (libs/packages). */
export const buildFetcher = async (packages: string): Promise<string> => {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [path.join(packages, 'fetcher/main.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    write: false,
    logLevel: 'warning',
    // Only scripts of packages need node-gyp, and none of them is run.
    logOverride: { 'require-resolve-not-external': 'silent' },
  });
  const file = outputFiles[0];
  if (!file) throw new Error('bundling the fetcher produced no file');
  return file.text;
};

let code: Promise<string> | undefined;

/** Code of the fetcher. The build puts it beside this file. Tests run from source and bundle it on demand. */
export const fetcherCode = (): Promise<string> => {
  const here = new URL(import.meta.url);
  code ??= here.pathname.endsWith('.ts')
    ? buildFetcher(fileURLToPath(new URL('.', here)))
    : readFile(new URL('./fetcher-child.cjs', here), 'utf8');
  return code;
};
