import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { type RunFilter } from '#libs/workflow-history/run-history.js';
import { enginesForEach } from '../testing/engines-for-each.js';
import { Database } from '../writer/sqlite-driver.js';
import { pageSql, type Sql, totalSql } from './history-pages.js';
import { statsSql } from './history-stats.js';

const installation = enginesForEach('history');
const OF = { of: { workflowId: 'p_1' } };

describe('a list of runs', () => {
  beforeEach(async () => void (await installation.open()));
  const plansOf = (filter: Partial<RunFilter>): string => {
    const scope = { workflow: 'p_1' };
    return planOf(pageSql(scope, { ...OF, ...filter, limit: 10 }), totalSql(scope, { ...OF, ...filter }));
  };
  const planOf = (...asked: readonly Sql[]): string => {
    const db = new Database(join(installation.dataDir, 'data.db'), { readOnly: true });
    const plans = asked.map(({ text, values }) =>
      db
        .sql(`EXPLAIN QUERY PLAN ${text}`)
        .all<{ detail: string }>(...values)
        .map(({ detail }) => detail)
        .join('; '),
    );
    db.close();
    return plans.join('\n');
  };

  it('reads its page in the order of an index, and counts in the index alone', () => {
    const plans = plansOf({ test: false, trigger: 'http', version: 2, since: 1_000 });
    expect(plans).not.toContain('TEMP B-TREE');
    expect(plans.split('\n')).toEqual([
      expect.stringContaining('USING INDEX run_history_by_workflow (workflow=? AND place>? AND place<?)'),
      expect.stringContaining('USING COVERING INDEX run_history_by_workflow (workflow=? AND place>? AND place<?)'),
    ]);
  });

  it('of runs that have not succeeded passes over the others', () => {
    const plans = plansOf({ states: ['failed', 'waiting'], test: false });
    expect(plans).not.toContain('TEMP B-TREE');
    expect(plans).toContain('USING COVERING INDEX run_history_not_succeeded_by_workflow');
    expect(plansOf({ states: ['succeeded'] })).toContain('USING COVERING INDEX run_history_by_workflow');
  });

  it('is counted for the list of workflows in the index alone, in its order', () => {
    const plan = planOf(statsSql('p_1', 1_000));
    expect(plan).not.toContain('TEMP B-TREE');
    expect(plan).toContain('USING COVERING INDEX run_history_by_workflow (workflow=?)');
    expect(plan).toContain('USING COVERING INDEX run_history_by_workflow (workflow=? AND place>?)');
  });

  it('with words, a trace or a replayed run begins with what matches', () => {
    const words = plansOf({ words: ['a', 'b'] });
    expect(words).not.toContain('TEMP B-TREE');
    expect(words).toContain('SCAN run_history_words VIRTUAL TABLE INDEX');
    expect(plansOf({ traceId: 'run_1' })).toContain('run_history_by_trace (trace=?)');
    expect(plansOf({ replayOf: 'run_1' })).toContain('run_history_by_replayed (replay_of=?)');
  });
});

// docs/adr/0049-routing-at-the-commit.md
describe('the state of a run', () => {
  afterEach(() => void jest.useRealTimers());

  it('waits for the next write when its run is dropped', async () => {
    const { journal, stats } = await installation.open();
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'] });
    const commit = { head: '', parts: {}, inbox: [], records: [] };
    await journal.commit({ ...commit, executable: 'p_1', run: 'run_1', expectedVersion: 0 });
    const before = stats().commits;
    const dropped = journal.dropRun({ executable: 'p_1', run: 'run_1' });
    for (let n = 0; n < 100; n++) await turn();
    expect(stats().commits).toBe(before);
    await journal.commit({ ...commit, executable: 'p_1', expectedVersion: 0 });
    await dropped;
    expect([stats().commits, await journal.runs('p_1', '', 10)]).toEqual([before + 1, []]);
  });
});
