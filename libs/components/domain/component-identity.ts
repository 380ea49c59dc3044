import { createHash } from 'node:crypto';
import { derivedId } from '#libs/kernel/ids.js';

/** SHA-256 hex of the exact UTF-8 code (decisions.md 1.4). */
export const codeHashOf = (code: string): string => createHash('sha256').update(code, 'utf8').digest('hex');

/**
 * The same workspace, code and further files always give the same id. Files count: two components may share an entry
 * file and differ in what it imports.
 */
export const componentIdOf = (
  workspaceId: string,
  code: string,
  files: Readonly<Record<string, string>> = {},
): string => {
  const parts = Object.entries(files)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([path, text]) => `${codeHashOf(path)}=${codeHashOf(text)}`);
  return derivedId('sc', workspaceId, codeHashOf(code), ...parts);
};
