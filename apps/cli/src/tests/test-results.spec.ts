import { describe, expect, it } from '@jest/globals';
import { TestResults, type RunnerEvent } from './test-results.js';

const FILE = '/work/shop/orders.test.mjs';
const event = (name: string, over: Partial<RunnerEvent> = {}): RunnerEvent => ({
  name,
  nesting: 0,
  file: FILE,
  details: { duration_ms: 3.4 },
  ...over,
});
const failing = (failureType: string, cause: unknown = undefined): RunnerEvent['details'] => ({
  duration_ms: 1,
  error: Object.assign(new Error('failed'), { failureType, cause }),
});

describe('results of tests', () => {
  it('name a test with its suites, each file with its own', () => {
    const results = new TestResults('/work');
    results.started(event('orders'));
    results.started(event('other', { file: '/work/b.test.mjs' }));
    results.started(event('are emitted', { nesting: 1 }));
    expect(results.ended('pass', event('are emitted', { nesting: 1 }))).toEqual({
      type: 'pass',
      file: 'shop/orders.test.mjs',
      name: 'orders > are emitted',
      ms: 3,
      error: null,
    });
    expect(results.ended('pass', event('orders', { details: { type: 'suite' } }))).toBeUndefined();
    expect(results).toMatchObject({ passed: 1, failed: 0 });
  });

  it('tell the failure of a test once, with its stack', () => {
    const results = new TestResults('/work');
    const cause = {
      stack: 'AssertionError: db.sum: expected 51, got 50\n    at a (node:internal/x:1:1)\n    at b.mjs:3',
    };
    expect(results.ended('fail', event('orders', { details: failing('testCodeFailure', cause) }))).toMatchObject({
      type: 'fail',
      error: 'AssertionError: db.sum: expected 51, got 50\n    at b.mjs:3',
    });
    expect(results.ended('fail', event(FILE, { details: failing('subtestsFailed') }))).toBeUndefined();
    expect(results).toMatchObject({ passed: 0, failed: 1 });
  });

  it('count a file that cannot be loaded, and none that has no test or that is left out', () => {
    const results = new TestResults('/work');
    const details = failing('testCodeFailure', 'test failed');
    expect(results.ended('fail', event(FILE, { details }))).toMatchObject({ type: 'fail', error: 'test failed' });
    expect(results.ended('pass', event(FILE))).toBeUndefined();
    expect(results.ended('pass', event('later', { skip: true }))).toBeUndefined();
    expect(results).toMatchObject({ passed: 0, failed: 1 });
  });
});
