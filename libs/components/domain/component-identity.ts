import { createHash } from 'node:crypto';
import { derivedId } from '#libs/kernel/ids.js';

/** SHA-256 of the exact UTF-8 code, in hexadecimal. See docs/reference/rest-api.md#component-code-hash. */
export const codeHashOf = (code: string): string => createHash('sha256').update(code, 'utf8').digest('hex');

/**
 * Derives the same id from the same workspace, code, file name and further files. Files count, because two components
 * may share an entry file and differ in the files that it imports. A given name counts, because it decides how the code
 * is read and where its imports lead. The code of a step counts apart, because the same code without a type is a source.
 */
export const componentIdOf = (
  workspaceId: string,
  code: string,
  files: Readonly<Record<string, string>> = {},
  fileName?: string,
  isStep = false,
): string => {
  const parts = Object.entries(files)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([path, text]) => `${codeHashOf(path)}=${codeHashOf(text)}`);
  if (fileName !== undefined) parts.push(`name=${codeHashOf(fileName)}`);
  if (isStep) parts.push('step');
  return derivedId('sc', workspaceId, codeHashOf(code), ...parts);
};
