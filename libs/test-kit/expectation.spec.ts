import { describe, expect, it } from '@jest/globals';
import { checkExpected } from './expectation.js';
import { type Expected, type Outcome } from './published.js';

const outcome: Omit<Outcome, 'expect'> = {
  emits: [{ event: { id: 'A1', lines: [1, 2] }, summary: 'Order A1' }],
  dropped: [],
  logs: [{ kind: 'console.log', text: 'done', ts: 1 }],
  warnings: [],
  db: { sum: 50 },
  requests: [],
  ms: 0,
  now: 1,
};
const GLOBAL = /do/g;
const check = (part: Expected): void => checkExpected(outcome, part);

describe('the expectation of a test', () => {
  it.each<[string, Expected]>([
    ['part of an object', { db: {}, emits: [{ event: { id: 'A1' } }] }],
    ['a pattern for a text', { logs: [{ text: /^do/ }] }],
    ['a pattern that goes on, in each text', { logs: [{ text: GLOBAL }] }],
    ['the same again', { logs: [{ text: GLOBAL }] }],
    ['a field that is absent', { error: undefined, emits: [{ id: undefined, summary: 'Order A1' }] }],
  ])('admits %s', (_, part) => expect(() => check(part)).not.toThrow());

  it.each<[string, Expected]>([
    ['db.sum: expected 51, got 50', { db: { sum: 51 } }],
    ['db.total: expected 1, got nothing', { db: { total: 1 } }],
    ['emits: expected 0 entries, got 1: [{"event"', { emits: [] }],
    ['emits[0].event.lines: expected 1 entries, got 2: [1,2]', { emits: [{ event: { lines: [1] } }] }],
    ['logs[0].text: expected /^no/, got "done"', { logs: [{ text: /^no/ }] }],
    ['emits[0].summary: expected nothing, got "Order A1"', { emits: [{ summary: undefined }] }],
  ])('names the first difference: %s', (text, part) => expect(() => check(part)).toThrow(text));

  it('tells the error of a run that was not expected to fail', () => {
    const error = { name: 'Error', message: 'no id', code: 'Error', stack: '', file: 'a.mjs', line: 3 };
    expect(() => checkExpected({ ...outcome, error }, { db: { sum: 51 } })).toThrow(
      'The run failed: Error: no id (a.mjs:3)',
    );
  });
});
