import { describe, expect, it } from '@jest/globals';
import { type JestFigures } from './jest-run.js';
import { failed, reportOf, tableOf, type Row } from './report.js';

const figures = (passed: number, failures: number): JestFigures => ({
  numPassedTests: passed * 10,
  numFailedTests: failures,
  numPassedTestSuites: passed,
  numFailedTestSuites: failures,
  numRuntimeErrorTestSuites: 0,
  testResults: Array.from({ length: passed + failures }, (_, n) => ({
    name: `/sluice/libs/${n}.int-spec.ts`,
    status: n < passed ? 'passed' : 'failed',
    assertionResults: [{ status: n < passed ? 'passed' : 'failed' }],
  })),
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

  it('has the result of each spec, and specs that did not run as skipped', () => {
    const { testResults } = reportOf([ran, red, missing]);
    expect(testResults.map(({ status, assertionResults }) => [status, assertionResults.length])).toEqual([
      ...[...Array.from({ length: 4 }, () => ['passed', 1]), ['failed', 1]],
      ['passed', 4],
    ]);
    expect(testResults.at(-1)?.assertionResults[0]).toEqual({ status: 'pending' });
    expect(reportOf([{ ...missing, specs: 0 }]).testResults[0]?.assertionResults).toHaveLength(1);
  });

  it('counts a server that failed to start as a failure', () => {
    expect([ran, red, missing, broken].map(failed)).toEqual([false, true, false, true]);
    expect(reportOf([broken]).testResults).toEqual([{ name: 'MongoDB', status: 'failed', assertionResults: [] }]);
  });
});
