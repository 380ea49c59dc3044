import { describe, expect, it } from '@jest/globals';
import { type JestFigures } from './jest-run.js';
import { failed, sumOf, tableOf, type Row } from './report.js';

const figures = (passed: number, failures: number): JestFigures => ({
  numPassedTests: passed * 10,
  numFailedTests: failures,
  numPendingTests: 0,
  numTodoTests: 0,
  numPassedTestSuites: passed,
  numFailedTestSuites: failures,
  numRuntimeErrorTestSuites: 0,
});

const ran: Row = { title: 'Kafka', version: 'Apache Kafka 4.1.1', on: 'real server', figures: figures(3, 0) };
const red: Row = { title: 'EventStoreDB', version: 'in-test', on: 'stand-in', figures: figures(1, 1) };
const missing: Row = { title: 'MongoDB', on: 'not run', reason: 'go is missing', specs: 4 };
const broken: Row = { title: 'MongoDB', on: 'broken', reason: 'the port is in use' };

describe('the report of test:engines', () => {
  it('names the server of each engine, or the reason for having none', () => {
    expect(tableOf([ran, red, missing])).toBe(
      [
        'engine       | version            | ran on      | suites             | tests              ',
        '-------------|--------------------|-------------|--------------------|--------------------',
        'Kafka        | Apache Kafka 4.1.1 | real server | 3 passed           | 30 passed          ',
        'EventStoreDB | in-test            | stand-in    | 1 passed, 1 failed | 10 passed, 1 failed',
        'MongoDB      | –                  | not run     | skipped            | –                  ',
        '',
        'MongoDB: not run: go is missing',
      ].join('\n'),
    );
  });

  it('counts specs that did not run as skipped', () => {
    expect(sumOf([ran, missing])).toMatchObject({ numPassedTests: 30, numFailedTests: 0, numPendingTests: 4 });
    expect(sumOf([{ ...missing, specs: 0 }]).numPendingTests).toBe(1);
  });

  it('counts a server that failed to start as a failure', () => {
    expect([ran, red, missing, broken].map(failed)).toEqual([false, true, false, true]);
    expect(sumOf([broken])).toMatchObject({ numRuntimeErrorTestSuites: 1, numPendingTests: 0 });
  });
});
