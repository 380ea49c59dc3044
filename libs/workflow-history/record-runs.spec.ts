import { describe, expect, it } from '@jest/globals';
import { linesRecord } from '#libs/stream-log/line-records.js';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { recordsInto } from './record-runs.js';

const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });

describe('the records of runs', () => {
  it('leave out the lines of executions that go on, which come again with the outcome', async () => {
    const applied: RunChange[] = [];
    const unreadable: unknown[] = [];
    const lines = { runId: 'run_1', namespace: 'a', item: null, from: 0, lines: [{ k: 'stdout', ts: 1, msg: 'x' }] };
    const stored = { lane: 'l', offset: 0, timestamp: 0, size: 0 };
    const [change] = changesOf({});
    const records: StoredRecord[] = [
      { ...linesRecord(topics, 'p_1', lines), ...stored },
      { topic: topics.runs('p_1'), key: 'p_1', headers: {}, value: JSON.stringify(change), ...stored },
    ];
    const history = {
      apply: async (changes: readonly RunChange[]) => void applied.push(...changes),
      applySends: async () => undefined,
    };
    const changes = await recordsInto(history, records, (record) => unreadable.push(record));
    expect([applied, changes, unreadable]).toEqual([[change], [change], []]);
  });
});
