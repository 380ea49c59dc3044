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
