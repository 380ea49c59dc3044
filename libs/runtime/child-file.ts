import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Code of the jailed child: built beside this file, or, when this runs from source (tests), bundled on the spot. */
export const childCode = async (): Promise<string> => {
  const here = new URL(import.meta.url);
  if (!here.pathname.endsWith('.ts')) return readFile(new URL('./child.cjs', here), 'utf8');
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./child/main.ts', here))],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vm2'],
    write: false,
  });
  const file = outputFiles[0];
  if (!file) throw new Error('bundling the child gave no file');
  return file.text;
};
