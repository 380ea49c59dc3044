import { describe, expect, it } from '@jest/globals';
import { MAX_FAULTS, type YamlFault } from '../messages.js';
import { locate, readYaml } from './yaml-text.js';

const read = (text: string): unknown => {
  const answer = readYaml(text);
  return answer.kind === 'value' ? (JSON.parse(answer.json) as unknown) : answer;
};
const faultsOf = (text: string): readonly YamlFault[] => {
  const answer = readYaml(text);
  if (answer.kind !== 'faults') throw new Error(`it is ${answer.kind}`);
  return answer.faults;
};
/** Lines in which each anchor is a list of nine of the one before. */
const bomb = (levels: number): string =>
  [
    'a0: &a0 lol',
    ...Array.from({ length: levels }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(',')}]`),
  ].join('\n');

describe('YAML', () => {
  it.each<[text: string, value: unknown]>([
    ['', null],
    ['a: 1\nb: [x, true, null, 1.5, 0x1f]', { a: 1, b: ['x', true, null, 1.5, 31] }],
    ['a: yes\nb: no\nc: 2001-01-01\nd: 1_000', { a: 'yes', b: 'no', c: '2001-01-01', d: '1_000' }],
    ['%YAML 1.1\n---\na: yes', { a: 'yes' }],
    ['a: |\n  x\n  y\n', { a: 'x\ny\n' }],
    ['a: &x {n: 1}\nb: *x\nc: [*x]', { a: { n: 1 }, b: { n: 1 }, c: [{ n: 1 }] }],
    ['a: &x 1\nb: *x\nc: &x 2\nd: *x', { a: 1, b: 1, c: 2, d: 2 }],
    ['<<: {a: 1}', { '<<': { a: 1 } }],
    ['1: a\ntrue: b\nnull: c', { 1: 'a', true: 'b', null: 'c' }],
    ['a: !!str 1\nb: !!int "2"', { a: '1', b: 2 }],
    ['__proto__: {polluted: 1}', JSON.parse('{"__proto__":{"polluted":1}}')],
    ['a:', { a: null }],
  ])('of the core schema becomes JSON: %j', (text, value) => expect(read(text)).toEqual(value));

  it.each<[text: string, code: string, line: number, column: number]>([
    ['a: 1\na: 2', 'duplicate', 2, 1],
    ['{"a": 1, a: 2}', 'duplicate', 1, 10],
    ['a: 1\nb: !foo x', 'unsupported', 2, 4],
    ['a: !!binary aGk=', 'unsupported', 1, 4],
    ['a: !!set {x}', 'unsupported', 1, 4],
    ['a: [1', 'syntax', 1, 6],
    ['a: 1\n---\nb: 2', 'syntax', 2, 1],
    ['a: *none', 'syntax', 1, 4],
    ['a: &x [*x]', 'syntax', 1, 8],
    ['? [a]\n: 1', 'syntax', 1, 3],
    ['a: .inf', 'type', 1, 4],
    ['a: .nan', 'type', 1, 4],
    [`a: &x 1\nb: [${Array(101).fill('*x').join(',')}]`, 'range', 2, 305],
    [`${'['.repeat(65)}${']'.repeat(65)}`, 'range', 1, 65],
    [`a: &x ${'['.repeat(40)}${']'.repeat(40)}\nb: ${'['.repeat(30)}*x${']'.repeat(30)}`, 'range', 2, 34],
  ])('is refused with its place: %j', (text, ...fault) => {
    const [[code, , line, column] = []] = faultsOf(text);
    expect([code, line, column]).toEqual(fault);
  });

  it('has at most 50 faults', () =>
    expect(faultsOf(Array.from({ length: 200 }, () => 'a: 1').join('\n'))).toHaveLength(MAX_FAULTS));

  it('has 64 levels at most, and 100 aliases', () => {
    expect(read(`${'['.repeat(64)}${']'.repeat(64)}`)).toBeInstanceOf(Array);
    expect(read(`a: &x 1\nb: [${Array(100).fill('*x').join(',')}]`)).toMatchObject({ a: 1 });
  });

  // With a comparison of each key with all others, or a copy for each alias, these would take minutes.
  it.each<[what: string, text: string, kind: string]>([
    ['many keys', Array.from({ length: 12_000 }, (_, i) => `k${i}: 1`).join('\n'), 'value'],
    ['too many keys', Array.from({ length: 30_000 }, (_, i) => `k${i}: 1`).join('\n'), 'too_large'],
    ['a huge key', `${'k'.repeat(500_000)}: 1`, 'faults'],
    ['a huge quoted key', `? "${'k'.repeat(500_000)}"\n: 1`, 'value'],
    ['an alias bomb', bomb(9), 'too_large'],
    ['an alias bomb of few levels', bomb(11).split('\n').slice(0, 4).join('\n'), 'value'],
  ])('is read in time that is linear: %s', (_what, text, kind) => expect(readYaml(text).kind).toBe(kind));
});

describe('the place of a value', () => {
  const text = 'name: x\nsteps:\n  - namespace: a\n    retry: {max_retries: 50}\n  - &s\n    namespace: b\n  - *s\n';
  it.each<[path: (string | number)[], line: number, column: number]>([
    [['name'], 1, 1],
    [['steps', 0, 'retry', 'max_retries'], 4, 13],
    [['steps', 1, 'namespace'], 6, 5],
    [['steps', 2, 'namespace'], 6, 5],
    [['steps', 0, 'missing', 'deeper'], 3, 5],
    [['other'], 1, 1],
    [[], 1, 1],
  ])('%j', (path, ...place) => expect(locate(text, [path])).toEqual([place]));
});
