import { describe, expect, it } from '@jest/globals';
import { nearMiss } from './near-miss.js';

const KEYS = [
  'name',
  'version',
  'props',
  'hooks',
  'run',
  'dedupe',
  'key',
  'type',
  'methods',
  'component_code',
  'active',
];

describe('a near miss', () => {
  it.each([
    ['prop', 'props'],
    ['dedup', 'dedupe'],
    ['verison', 'version'],
    ['Run', 'run'],
    ['componentCode', 'component_code'],
    ['component-code', 'component_code'],
    ['methds', 'methods'],
    ['rnu', 'run'],
    ['nmae', 'name'],
    ['prpos', 'props'],
  ])('reads %s as %s', (word, meant) => expect(nearMiss(word, KEYS)).toBe(meant));

  it.each(['props', 'run', 'summary', 'is', 'x', 'ran_at', 'keys_of_other', ''])('finds nothing for %j', (word) =>
    expect(nearMiss(word, KEYS)).toBeUndefined(),
  );

  it('prefers the nearest word', () => expect(nearMiss('type', ['types', 'typ', 'tape'])).toBe('types'));

  it('compares no word of more than 64 letters', () => {
    expect(nearMiss('p'.repeat(65), ['p'.repeat(64)])).toBeUndefined();
    expect(nearMiss('p'.repeat(64), ['p'.repeat(65)])).toBeUndefined();
  });
});
