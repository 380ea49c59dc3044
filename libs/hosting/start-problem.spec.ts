import { describe, expect, it } from '@jest/globals';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { operatorProblem, startProblem } from './start-problem.js';

const refused = (fields: Partial<NodeJS.ErrnoException> & Record<string, unknown>): Error =>
  Object.assign(new Error(`${String(fields.syscall)} ${String(fields.code)}`), fields);

describe('a problem at the start that the operating system reports', () => {
  const listen = { syscall: 'listen', address: '127.0.0.1', port: 80 };

  it.each([
    ['a used port', { ...listen, code: 'EADDRINUSE' }, /^127\.0\.0\.1:80 is in use .*SLUICE_PORT/],
    ['a port for root only', { ...listen, code: 'EACCES' }, /may not listen on 127\.0\.0\.1:80.*SLUICE_PORT.*1023/],
    ['an address of another machine', { ...listen, code: 'EADDRNOTAVAIL' }, /^SLUICE_HOST.*no address of this machine/],
    ['another failure to listen', { ...listen, code: 'EINVAL' }, /EINVAL.*SLUICE_HOST and SLUICE_PORT/],
    ['an unknown name', { syscall: 'getaddrinfo', hostname: 'nowhere', code: 'ENOTFOUND' }, /^SLUICE_HOST: .*nowhere/],
    [
      'a folder of another user',
      { syscall: 'mkdir', path: '/root/x', code: 'EACCES' },
      /^\/root\/x: the user .*may not.*SLUICE_DATA_DIR/,
    ],
    [
      'a read-only file system',
      { syscall: 'open', path: '/ro/x', code: 'EROFS' },
      /^\/ro\/x: .*read-only.*SLUICE_DATA_DIR/,
    ],
    ['a full disk', { syscall: 'write', path: '/d/x', code: 'ENOSPC' }, /^\/d\/x: its disk is full.*SLUICE_DATA_DIR/],
    [
      'a file in the path',
      { syscall: 'mkdir', path: '/f/x', code: 'ENOTDIR' },
      /^\/f\/x: .*is a file.*SLUICE_DATA_DIR/,
    ],
    [
      'a file instead of a folder',
      { syscall: 'mkdir', path: '/f', code: 'EEXIST' },
      /^\/f: a file has this name.*SLUICE_DATA_DIR/,
    ],
    [
      'a folder in which nothing can be made',
      { syscall: 'mkdir', path: '/proc/x', code: 'ENOENT' },
      /^\/proc\/x: no folder can be made.*SLUICE_DATA_DIR/,
    ],
    [
      'a link to itself',
      { syscall: 'mkdir', path: '/l/x', code: 'ELOOP' },
      /^\/l\/x: a symbolic link.*SLUICE_DATA_DIR/,
    ],
  ])('names the setting and the remedy: %s', (_what, fields, text) => {
    const told = startProblem(refused(fields));
    expect(told).toMatch(text);
    expect(told).not.toContain('    at ');
  });

  it('keeps the stack of an error that no setting explains', () => {
    const error = refused({ syscall: 'read', path: '/x', code: 'EIO' });
    expect(operatorProblem(error)).toBeUndefined();
    expect(startProblem(error)).toContain('    at ');
  });
});

it('tells the text of an unusable data directory, without a stack', () => {
  expect(startProblem(new UnusableDataDirectory('it is damaged'))).toBe('it is damaged');
});
