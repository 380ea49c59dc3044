import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type ChildKind } from './child-build.js';

const FILES: Readonly<Record<ChildKind, string>> = {
  plain: './child.cjs',
  vm2: './child-vm2.cjs',
  build: './build-child.cjs',
  unpack: './unpack-child.cjs',
};

const known = new Map<ChildKind, Promise<string>>();

/** Code of the jailed child. The build puts it beside this file. Tests run from source and bundle it on demand. */
export const childCode = (kind: ChildKind): Promise<string> => {
  const code = known.get(kind) ?? readCode(kind);
  known.set(kind, code);
  return code;
};

const readCode = async (kind: ChildKind): Promise<string> => {
  const here = new URL(import.meta.url);
  if (!here.pathname.endsWith('.ts')) return readFile(new URL(FILES[kind], here), 'utf8');
  const { buildChild } = await import('./child-build.js');
  return buildChild(fileURLToPath(new URL('.', here)), kind);
};
