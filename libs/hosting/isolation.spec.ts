import { describe, expect, it } from '@jest/globals';
import { IsolationUnavailable, type JailLevel } from '#libs/sandbox/index.js';
import { CallersView } from '#libs/tenancy/index.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { checkIsolation, checkIsolationHere, DOCKER_RUN, enforceIsolation, isolationFacts } from './isolation.js';
import { startProblem } from './start-problem.js';

const level = (name: JailLevel['name'], carries?: JailLevel['carries']): JailLevel => ({
  name,
  warning: null,
  unavailable: ['bwrap is not installed', 'unshare: not permitted'],
  ...(carries ? { carries } : {}),
  plan: () => {
    throw new Error('not used');
  },
});
const config = { isolation: 'auto', host: '127.0.0.1', inImage: false } as const;

describe('what a server without a jail may do', () => {
  it.each([
    ['a jail, whatever runs in it', 'jail (bwrap)', { ...config, host: '0.0.0.0', inImage: true }, 5],
    ['one workspace on this machine alone', 'process', config, 1],
    ['one on ::1', 'process', { ...config, host: '::1' }, 1],
    ['one on localhost', 'process', { ...config, host: 'localhost' }, 0],
    ['what the operator asked for', 'process', { isolation: 'process', host: '0.0.0.0', inImage: true }, 5],
  ] as const)('accepts %s', (_name, name, given, workspaces) => {
    expect(() => checkIsolation(level(name), given, workspaces)).not.toThrow();
  });

  it.each([
    ['several workspaces', config, 2, /too weak for 2 workspaces/],
    [
      'a server that others reach',
      { ...config, host: '0.0.0.0' },
      1,
      /too weak for a server that others reach .*0\.0\.0\.0/,
    ],
    ['one on every IPv6 address', { ...config, host: '::' }, 1, /others reach/],
    ['one on an address of the network', { ...config, host: '192.168.1.7' }, 0, /others reach/],
    ['one on a name', { ...config, host: '127.example.com' }, 1, /others reach/],
  ] as const)('refuses %s, in one line with reasons and what to do', (_, given, workspaces, why) => {
    let refused: unknown;
    try {
      checkIsolation(level('process'), given, workspaces);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(IsolationUnavailable);
    const text = startProblem(refused);
    expect(text).toMatch(why);
    expect(text).toMatch(
      /bwrap is not installed; unshare: not permitted.*install bubblewrap.*SLUICE_ISOLATION=process/,
    );
    expect(text).not.toContain('\n');
  });

  it('refuses any fallback in the image, in one line with the whole command', () => {
    const refuse = (): void => checkIsolation(level('process'), { ...config, inImage: true }, 1);
    expect(refuse).toThrow(DOCKER_RUN);
    expect(refuse).toThrow(/^[^\n]*bwrap is not installed[^\n]*-e SLUICE_ISOLATION=process[^\n]*$/);
  });

  it('ends a running process when another workspace makes its isolation too weak', () => {
    const callers = new CallersView();
    const create = (workspaceId: string): void => {
      const data = { workspaceId, orgname: 'x', name: 'X', email: 'x@y', ownerId: 'u_1', createdAt: 1 };
      callers.apply(recorded(`workspace-${workspaceId}`, { type: 'WorkspaceCreated', data }));
    };
    create('o_1');
    const failures: Error[] = [];
    enforceIsolation(level('process'), config, callers, (error) => failures.push(error));
    enforceIsolation(level('jail (bwrap)'), config, callers, (error) => failures.push(error));
    expect(failures).toEqual([]);
    create('o_2');
    expect(failures.map(String)).toEqual([expect.stringContaining('for 2 workspaces')]);
    expect(() => enforceIsolation(level('process'), config, callers, () => undefined)).toThrow(IsolationUnavailable);
  });

  it('does not try a pinned level of other machines before a workspace is added', async () => {
    await checkIsolationHere({ isolation: 'bwrap', host: '127.0.0.1', inImage: false, engine: 'distributed' }, 2);
  });

  it('logs at the start the protections that the host does not support', () => {
    expect(
      isolationFacts(level('jail (bwrap)', new Set(['syscalls', 'tmp_files', 'tmp_noexec', 'processes']))),
    ).toEqual({
      isolation: 'jail (bwrap)',
      without: ['memory', 'oom_priority'],
    });
    const all = new Set(['memory', 'processes', 'syscalls', 'oom_priority'] as const);
    expect(isolationFacts(level('jail (unshare)', all))).toEqual({ isolation: 'jail (unshare)' });
  });
});
