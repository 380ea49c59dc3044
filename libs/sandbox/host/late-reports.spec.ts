import { describe, expect, it } from '@jest/globals';
import { LATE_KINDS, NO_RUN } from '../protocol/late-work.js';
import { collectedRun } from '../testing/collected-run.js';
import { LateReports } from './late-reports.js';

const detail = Buffer.from('{"a":1}');

describe('reports on work that outlived its run', () => {
  it('name the run or hook, and what is lost', () => {
    const reports = new LateReports();
    reports.ended(collectedRun({ n: 1, invocationId: 'inv_1' }));
    reports.ended(collectedRun({ n: 2, invocationId: 'hook activate', work: 'hook' }));
    expect(reports.read(1, 'emit', 5, detail)).toEqual({
      k: 'warning',
      ts: 5,
      msg: '$emit was called after run inv_1 had ended, so its event is lost: {"a":1}. A promise without "await", a timer or an async callback of forEach outlived it: await all work in run.',
    });
    expect(reports.read(2, 'respond', 5, Buffer.alloc(0)).msg).toMatch(
      /^respond was called after the hook activate had ended, so its reply is lost\. /,
    );
    expect(reports.read(NO_RUN, 'error', 5, Buffer.from('TypeError: no')).msg).toBe(
      'an error was not caught outside of any run: TypeError: no. Code of the module did it, not run or a hook: catch its errors there.',
    );
  });

  it('of each kind come once a run, and a second one breaks the protocol', () => {
    const reports = new LateReports();
    reports.ended(collectedRun({ n: 1 }));
    const texts = LATE_KINDS.map((kind) => reports.read(1, kind, 5, detail).msg);
    expect(new Set(texts).size).toBe(LATE_KINDS.length);
    for (const kind of LATE_KINDS) expect(() => reports.read(1, kind, 5, detail)).toThrow(/a second report of kind/);
  });

  it('break the protocol for a run that has not ended, and never name another run', () => {
    const reports = new LateReports();
    reports.ended(collectedRun({ n: 1, invocationId: 'inv_1' }));
    expect(() => reports.read(2, 'emit', 5, detail)).toThrow(/run 2, which has not ended/);
    expect(() => reports.read(1_025, 'emit', 5, detail)).toThrow(/run 1025, which has not ended/);
    reports.ended(collectedRun({ n: 1_025, invocationId: 'inv_1025' }));
    expect(reports.read(1, 'emit', 5, detail).msg).toContain('after a run long ago had ended');
    expect(reports.read(1_025, 'emit', 5, detail).msg).toContain('after run inv_1025 had ended');
  });

  it('name the right run after a slow one ended behind a thousand others', () => {
    const reports = new LateReports();
    for (let n = 6; n <= 1_500; n++) reports.ended(collectedRun({ n, invocationId: `inv_${n}` }));
    reports.ended(collectedRun({ n: 5, invocationId: 'inv_5' }));
    expect(reports.read(1_029, 'emit', 5, detail).msg).toContain('after run inv_1029 had ended');
    expect(reports.read(5, 'emit', 5, detail).msg).toContain('after a run long ago had ended');
  });
});
