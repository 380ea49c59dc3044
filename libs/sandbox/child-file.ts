import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type JailedCode } from './child-build.js';

const FILES: Readonly<Record<JailedCode, string>> = {
  plain: './child.cjs',
  build: './build-child.cjs',
  test: './test-child.cjs',
  request: './http-request.cjs',
  unpack: './unpack-child.cjs',
};

const known = new Map<JailedCode, Promise<string>>();

/** Code for jailed processes. The build puts it beside this file. Tests run from source and bundle it on demand. */
export const childCode = (kind: JailedCode): Promise<string> => {
  const code = known.get(kind) ?? readCode(kind);
  known.set(kind, code);
  return code;
};

const readCode = async (kind: JailedCode): Promise<string> => {
  const here = new URL(import.meta.url);
  if (!here.pathname.endsWith('.ts')) return readFile(new URL(FILES[kind], here), 'utf8');
  const { buildChild } = await import('./child-build.js');
  return buildChild(fileURLToPath(new URL('.', here)), kind);
};
