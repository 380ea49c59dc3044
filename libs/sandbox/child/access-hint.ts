import path from 'node:path';

/** Codes of a refused or impossible access to a file, and of a full folder. */
const REFUSED = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOENT', 'EXDEV', 'ERR_ACCESS_DENIED']);
const FULL = new Set(['ENOSPC', 'EFBIG', 'EDQUOT']);

/** Characters of a path that are quoted. */
const QUOTED = 300;

let folder = { path: '/tmp', mb: 0 };

/** Sets the folder that the component may write to. */
export const writesIn = (path: string, mb: number): void => {
  folder = { path, mb };
};

type Read = (value: object, key: string) => unknown;

/**
 * Text that names a refused file or call and says what is possible, for an error of a file outside of the component's
 * folder and for a call that Node refuses; "" for any other error. See docs/reference/component-model.md#isolation-files
 * and #isolation-programs.
 */
export const accessHint = (thrown: object, read: Read): string => {
  const code = read(thrown, 'code');
  if (typeof code !== 'string') return '';
  if (FULL.has(code)) return ` (/tmp holds at most ${folder.mb} MB: remove files that are no longer needed)`;
  if (!REFUSED.has(code)) return '';
  const call = code === 'ERR_ACCESS_DENIED' ? refusedCall(thrown, read) : undefined;
  if (call !== undefined) return ` (${call})`;
  const file = fileOutside(thrown, read);
  if (file === undefined) return '';
  // Without a jail the folder lies elsewhere, and /tmp itself is refused.
  const where = folder.path === '/tmp' ? '/tmp' : 'os.tmpdir()';
  return ` ("${file.slice(0, QUOTED)}": a component may read and write files only below ${where}, which holds at most ${folder.mb} MB)`;
};

/** Node's own permissions name a resource, as the component wrote it. The system names one or two paths. */
const fileOutside = (thrown: object, read: Read): string | undefined =>
  ['path', 'dest', 'resource']
    .map((key) => read(thrown, key))
    .find((file): file is string => typeof file === 'string' && file !== '' && isOutside(file));

const isOutside = (file: string): boolean => {
  const whole = path.resolve(folder.path, file);
  return whole !== folder.path && !whole.startsWith(`${folder.path}/`);
};

const refusedCall = (thrown: object, read: Read): string | undefined => {
  switch (read(thrown, 'permission')) {
    case 'ChildProcess':
      return `${programCallIn(read(thrown, 'stack'))}: a component cannot start other programs: use an npm package, or send a request to a service that runs the program`;
    case 'WorkerThreads':
      return 'new Worker: a component cannot start threads: do the work in run, or emit events to another source';
    case 'Inspector':
      return 'node:inspector: a component cannot be debugged from within: log with console.log';
    case 'WASI':
      return 'new WASI: a component cannot use node:wasi: use WebAssembly, or an npm package';
    default:
      return undefined;
  }
};

/** The outermost function of node:child_process on the stack is the one that the component called. */
const programCallIn = (stack: unknown): string => {
  const calls = typeof stack === 'string' ? [...stack.matchAll(/ at (?:\w+\.)?(\w+) \(node:child_process:/g)] : [];
  return calls.at(-1)?.[1] ?? 'node:child_process';
};
