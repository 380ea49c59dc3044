import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { accessHint, writesIn } from './access-hint.js';

const hintFor = (error: object): string => accessHint(error, (value, key) => (value as Record<string, unknown>)[key]);
const denied = (resource: string) => ({ code: 'ERR_ACCESS_DENIED', permission: 'FileSystemWrite', resource });
const deniedCall = (permission: string, stack = '') => ({ code: 'ERR_ACCESS_DENIED', permission, resource: '', stack });

describe('the hint of a refused file', () => {
  beforeEach(() => writesIn('/tmp', 128));
  afterEach(() => writesIn('/tmp', 0));

  it('names the file and /tmp in a jail', () => {
    const hint = ' ("/etc/x": a component may read and write files only below /tmp, which holds at most 128 MB)';
    expect(hintFor(denied('/etc/x'))).toBe(hint);
    expect(hintFor({ code: 'EROFS', path: '/etc/x' })).toBe(hint);
    expect(hintFor(denied('/tmp/x'))).toBe('');
  });

  it('names a relative path that leaves the folder, and the target of a rename', () => {
    expect(hintFor(denied('../etc/x'))).toContain('"../etc/x": ');
    expect(hintFor({ code: 'EXDEV', path: '/tmp/x', dest: '/etc/x' })).toContain('"/etc/x": ');
    expect(hintFor({ code: 'ENOENT', path: 'x', dest: 'y/z' })).toBe('');
  });

  it('names os.tmpdir() without a jail, where /tmp itself is refused', () => {
    writesIn('/var/folders/7', 128);
    expect(hintFor(denied('/tmp/x'))).toContain('only below os.tmpdir(), which');
    expect(hintFor(denied('/var/folders/7/x'))).toBe('');
  });
});

// docs/reference/component-model.md#isolation-programs
describe('the hint of a refused call', () => {
  it.each([
    [
      'execSync',
      'at spawnSync (node:child_process:911:24)\n    at Object.execSync (node:child_process:985:15)\n    at run (x)',
    ],
    ['spawn', 'at ChildProcess.spawn (node:internal/child_process:421:28)\n    at spawn (node:child_process:761:9)\n'],
    [
      'execFileSync',
      'at spawnSync (node:child_process:911:24)\n    at Module.execFileSync (node:child_process:947:15)\n',
    ],
    ['node:child_process', 'cut off'],
  ])('names %s and what to do', (call, stack) => {
    expect(hintFor(deniedCall('ChildProcess', `Error: no\n    ${stack}`))).toBe(
      ` (${call}: a component cannot start other programs: use an npm package, or send a request to a service that runs the program)`,
    );
  });

  it.each([
    ['WorkerThreads', 'new Worker: '],
    ['Inspector', 'node:inspector: '],
    ['WASI', 'new WASI: '],
  ])('names that of the permission %s', (permission, text) => {
    expect(hintFor(deniedCall(permission))).toContain(text);
  });

  it('is empty for another permission and for an error with the same field', () => {
    expect(hintFor(deniedCall(''))).toBe('');
    expect(hintFor({ code: 'EOTHER', permission: 'ChildProcess' })).toBe('');
  });
});
