import { posix } from 'node:path';
import { DomainError } from '#libs/kernel/domain-error.js';

const MAX_PATH_BYTES = 512;

/**
 * Checks the paths of the files beside a component's code. They are relative, stay within its folder, and read the same
 * on every system and in every log. Throws request.invalid_parameter with the path and the reason.
 */
export const checkFilePaths = (files: Readonly<Record<string, string>>): void => {
  for (const path of Object.keys(files)) {
    const wrong = wrongIn(path);
    if (wrong === undefined) continue;
    const shown = JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path);
    throw new DomainError(
      'request.invalid_parameter',
      `parameter files: the path ${shown} ${wrong}: use a relative path such as lib/util.js`,
      { field: 'files', actual: shown },
    );
  }
};

const CODE_FILE = /\.[cm]?[jt]s$/;

/**
 * Checks `file_name`, the path of the code among `files`. Throws request.invalid_parameter with the reason. See
 * docs/reference/rest-api.md#component-file-name.
 */
export const checkFileName = (fileName: string, files: Readonly<Record<string, string>> = {}): void => {
  const wrong =
    wrongIn(fileName) ??
    (CODE_FILE.test(fileName) ? undefined : 'does not end in .mjs, .cjs, .js, .mts, .cts or .ts') ??
    (Object.keys(files).some((path) => posix.normalize(path) === posix.normalize(fileName))
      ? 'is among files too'
      : undefined);
  if (wrong === undefined) return;
  const shown = JSON.stringify(fileName.length > 100 ? `${fileName.slice(0, 100)}…` : fileName);
  throw new DomainError(
    'request.invalid_parameter',
    `parameter file_name: the path ${shown} ${wrong}: give the path of component_code itself, such as sources/new-order/new-order.mjs`,
    { field: 'file_name', actual: shown },
  );
};

const wrongIn = (path: string): string | undefined => {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES) return `has ${bytes} bytes, the limit is ${MAX_PATH_BYTES}`;
  if (!path.isWellFormed()) return 'holds half of a surrogate pair';
  if (/\p{Cc}/u.test(path)) return 'holds a control character';
  if (path.includes('\\')) return 'holds a backslash';
  if (path.startsWith('/')) return 'is absolute';
  const steps = path.split('/').filter((step) => step !== '.');
  if (steps.includes('..')) return 'leads out of a folder';
  if (steps.length === 0 || steps.includes('')) return 'names no file';
  if (steps.includes('__proto__')) return 'holds the reserved name __proto__';
  return undefined;
};
