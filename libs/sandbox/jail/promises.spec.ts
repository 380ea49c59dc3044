import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { type JailLevel, type JailName } from './jail-level.js';
import { isCarried, missingOf, NEEDS, PROMISES, promisesTable, PROTECTIONS, type Protection } from './promises.js';

const security = readFileSync(new URL('../../../SECURITY.md', import.meta.url), 'utf8');
const protections = Object.keys(PROTECTIONS) as Protection[];
const levels = Object.keys(PROMISES) as JailName[];

const level = (name: JailName, ...carries: Protection[]): JailLevel => ({
  name,
  warning: null,
  unavailable: [],
  carries: new Set(carries),
  plan: () => {
    throw new Error('not used');
  },
});

describe('the promises of the levels', () => {
  it('match SECURITY.md', () => {
    expect(security).toContain(`\n\n${promisesTable()}\n\n`);
  });

  it('have a row for each protection and a cell for each level', () => {
    const rows = promisesTable().split('\n');
    expect(rows).toHaveLength(protections.length + 2);
    for (const row of rows) expect(row.split('|')).toHaveLength(levels.length + 4);
  });

  it('name their requirements wherever they depend on the host', () => {
    const dependent = protections.filter((one) => levels.some((name) => PROMISES[name][one] === 'host'));
    expect(Object.keys(NEEDS).sort()).toEqual(dependent.sort());
  });

  it('hold where the host allows it only when the level carries them', () => {
    expect(isCarried(level('jail (bwrap)'), 'files')).toBe(true);
    expect(isCarried(level('jail (bwrap)'), 'memory')).toBe(false);
    expect(isCarried(level('jail (bwrap)', 'memory'), 'memory')).toBe(true);
    // The level never promises this protection.
    expect(isCarried(level('process', 'syscalls'), 'syscalls')).toBe(false);
    expect(missingOf(level('process', 'heap', 'oom_priority'))).toEqual(['server_process', 'memory', 'processes']);
  });
});
