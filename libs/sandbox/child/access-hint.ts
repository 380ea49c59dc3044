/** Codes of a refused or impossible access to a file, and of a full folder. */
const REFUSED = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ERR_ACCESS_DENIED']);
const FULL = new Set(['ENOSPC', 'EFBIG', 'EDQUOT']);

let folder = { path: '/tmp', mb: 0 };

/** Sets the folder that the component may write to. */
export const writesIn = (path: string, mb: number): void => {
  folder = { path, mb };
};

/**
 * Text that says where files may be written, for an error of a file elsewhere; "" for any other error. See
 * docs/reference/component-model.md#isolation-files.
 */
export const fileHint = (thrown: object, read: (value: object, key: string) => unknown): string => {
  const code = read(thrown, 'code');
  if (typeof code !== 'string') return '';
  if (FULL.has(code)) return ` (/tmp holds at most ${folder.mb} MB: remove files that are no longer needed)`;
  // Node's own permissions name the resource, the system names the path.
  const file = read(thrown, 'path') ?? read(thrown, 'resource');
  if (!REFUSED.has(code) || typeof file !== 'string' || !file.startsWith('/')) return '';
  if (file === folder.path || file.startsWith(`${folder.path}/`)) return '';
  // Without a jail the folder lies elsewhere, and /tmp itself is refused.
  const where = folder.path === '/tmp' ? '/tmp' : 'os.tmpdir()';
  return ` (a component may read and write files only below ${where}, which holds at most ${folder.mb} MB)`;
};
