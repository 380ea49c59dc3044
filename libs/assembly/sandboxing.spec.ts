import { describe, expect, it } from '@jest/globals';
import { type JailLevel } from '#libs/runtime/jail/jail-level.js';
import { checkIsolation } from './sandboxing.js';

const level = (name: JailLevel['name']): JailLevel => ({
  name,
  warning: null,
  unavailable: ['bwrap is not installed'],
  plan: () => {
    throw new Error('not used');
  },
});

describe('isolation of several workspaces', () => {
  it.each([
    ['a jail, whatever runs in it', 'jail (bwrap)', 'auto', 5],
    ['one workspace', 'process', 'auto', 1],
    ['what the operator asked for', 'process', 'process', 5],
  ] as const)('accepts %s', (_name, name, setting, workspaces) => {
    expect(() => checkIsolation(level(name), setting, workspaces)).not.toThrow();
  });

  it('refuses bare processes for more than one, and says what to do', () => {
    expect(() => checkIsolation(level('process'), 'auto', 2)).toThrow(
      /too weak for 2 workspaces.*bwrap is not installed.*SLUICE_ISOLATION=process/,
    );
  });
});
