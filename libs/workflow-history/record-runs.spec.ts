import { afterEach, describe, expect, it } from '@jest/globals';
import { linesRecord } from '#libs/stream-log/line-records.js';
import { type ConsumeOptions, type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { recordRuns, recordsInto } from './record-runs.js';
import { type RunHistory } from './run-history.js';

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

describe('the history of runs', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  const opened = async (write: (changes: readonly RunChange[]) => Promise<void>) => {
    let options: ConsumeOptions | undefined;
    const consume = async (given: ConsumeOptions) => {
      options = given;
      return { close: async () => undefined, backlog: () => 0 };
    };
    const said: string[] = [];
    const runs = await recordRuns({
      log: { consume } as unknown as StreamLog,
      runHistory: {
        apply: write,
        remove: async () => undefined,
        surplus: async () => [],
      } as unknown as RunHistory,
      workflows: { find: () => undefined, all: () => [] },
      kept: { runs: 9, days: 9, workspaceBytes: 1e9 },
      clock: { now: () => 0 },
      logger: { error: (_, text) => void said.push(text) },
    });
    closing.push(() => runs.close());
    const acked: string[] = [];
    let isRevoked = false;
    const comes = async (lane: string, ...offsets: readonly number[]): Promise<void> =>
      options?.handler({
        lane,
        topic: topics.runs(lane),
        records: offsets.map((offset) => ({
          lane,
          offset,
          timestamp: 0,
          size: 0,
          topic: topics.runs(lane),
          key: lane,
          headers: {},
          value: JSON.stringify({ ...changesOf({})[0], runId: `${lane} ${offset}` }),
        })),
        ack: (offset) => void acked.push(`${lane} ${offset}`),
        revoked: () => isRevoked,
      });
    const revoke = async (lane: string): Promise<void> => {
      isRevoked = true;
      await options?.onRevoked?.(lane);
    };
    return { acked, comes, revoke, said };
  };
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
  };

  it('is written once for what comes within a moment, of all lanes, and acknowledged then', async () => {
    const writes: string[][] = [];
    const { acked, comes } = await opened(async (changes) => void writes.push(changes.map(({ runId }) => runId)));
    // A write that is due at once would come before the second record.
    await until(() => performance.now() % 25 < 5);
    await Promise.all([comes('p_1', 1), comes('p_2', 7)]);
    await comes('p_1', 2);
    await until(() => acked.length === 3);
    expect(writes.flat().sort()).toEqual(['p_1 1', 'p_1 2', 'p_2 7']);
    expect([writes.length, [...acked].sort()]).toEqual([1, ['p_1 1', 'p_1 2', 'p_2 7']]);
  });

  it('is written again after a failure, which is said once and acknowledges nothing', async () => {
    let failures = 0;
    const ackedAtFailure: number[] = [];
    const { acked, comes, said } = await opened(async () => {
      if (++failures > 2) return;
      ackedAtFailure.push(acked.length);
      throw new Error('the disk is full');
    });
    await comes('p_1', 1);
    await until(() => acked.length === 1);
    expect([failures, ackedAtFailure, said]).toEqual([3, [0, 0], ['run_history.not_written: tried again']]);
  });

  it('writes nothing of a lane that another process has now', async () => {
    const writes: string[] = [];
    const { acked, comes, revoke } = await opened(
      async (changes) => void writes.push(...changes.map(({ runId }) => runId)),
    );
    await comes('p_1', 1);
    await revoke('p_1');
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect([writes, acked]).toEqual([[], []]);
  });
});
