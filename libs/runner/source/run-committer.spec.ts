import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { INVOCATIONS } from '#libs/stream-log/topics.js';
import { type InvocationHeaders } from '#libs/stream-log/envelopes.js';
import { HeardEmits } from '../heard-emits.js';
import { LaneTracker } from '../lane-tracker.js';
import { type Finished } from './run-commit.js';
import { runCommitter, type RunCommitterOptions } from './run-committer.js';
import { laneStateOf } from '../lane-state.js';
import { CommitTooLarge, type RunCommit, StateConflict } from '../run-journal.js';
import { type DedupeCache } from '../outcome/dedupe-cache.js';
import { partsOf } from './source-state.js';
import { noEvent } from './run-result.js';
import { type RunnerMetrics } from '../runner-ports.js';
import { ok } from './testing/fake-sandbox.js';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

const turns = async (): Promise<void> => {
  for (let n = 0; n < 200; n++) await turn();
};

/** A committer whose journal and dedupe strategy fail as the test specifies. */
const world = (fails: {
  journal?: (commit: RunCommit) => void;
  build?: () => void;
  dedupe?: Record<string, DedupeCache>;
}) => {
  let refusals = 0;
  const commits: RunCommit[] = [];
  const errors: string[] = [];
  const tracker = new LaneTracker({ through: -1, above: [] });
  let built = 0;
  const committer = runCommitter({
    sourceId: 'dc_1',
    delayed: { usage: async () => ({ count: 0, bytes: 0 }) },
    stored: {
      version: 0,
      lastEventId: '',
      own: partsOf({ dedupe: fails.dedupe ?? {}, db: {} }) as Record<string, string>,
    },
    tracker,
    heard: new HeardEmits({}),
    strategy: () => {
      built++;
      fails.build?.();
      return null;
    },
    onIdle: () => undefined,
    onRefused: () => void refusals++,
    onConflict: () => undefined,
    deps: {
      journal: {
        commit: async (commit: RunCommit) => {
          fails.journal?.(commit);
          commits.push(commit);
        },
      },
      topics: { emits: (id: string) => `emits.${id}` },
      metrics: new Proxy({} as RunnerMetrics, { get: () => () => undefined }),
      logger: {
        isLevelEnabled: () => false,
        warn: () => undefined,
        error: (_fields: object, text: string) => errors.push(text),
      },
      settings: { httpTimeoutMs: 1_000, timerTimeoutMs: 1_000, hookTimeoutMs: 1_000 },
    } as unknown as RunCommitterOptions['deps'],
  });
  return { committer, tracker, commits, errors, built: () => built, refusals: () => refusals };
};

const finished = (offset: number, ends: { committed?: () => void; abandoned?: () => void } = {}): Finished => ({
  execution: {
    id: `run${offset}`,
    sourceId: 'dc_1',
    componentId: 'sc_1',
    workspaceId: 'o_1',
    event: noEvent,
    hops: 0,
    emits: true,
  },
  outcome: ok({ emits: [{ payload: String(offset), channel: '' }] }),
  invocation: {
    record: { topic: INVOCATIONS, lane: 'l', offset, key: 'dc_1', value: 'null', headers: {}, size: 1, at: 0 } as never,
    headers: { id: `i${offset}`, kind: 'http', respond: '' } as unknown as InvocationHeaders,
    ack: () => undefined,
    revoked: () => false,
  },
  committed: ends.committed ?? (() => undefined),
  ...(ends.abandoned ? { abandoned: ends.abandoned } : {}),
});

const progressOf = ({ head }: RunCommit) => laneStateOf({ version: 1, head, parts: {} }).progress;

const emitsOf = ({ records }: Pick<RunCommit, 'records'>): string[] =>
  records.filter(({ headers }) => headers['channel'] === '').map(({ value }) => value);

describe('a commit that the journal cannot write', () => {
  it('is tried again after a pause, and committed once', async () => {
    let down = 2;
    const committed = jest.fn();
    const { committer, commits, errors } = world({
      journal: () => {
        if (down-- > 0) throw new Error('unreachable');
      },
    });
    committer.push(finished(0, { committed }));
    await turns();
    expect(errors).toEqual(['commit.retried']);
    await jest.advanceTimersByTimeAsync(100);
    expect(errors).toEqual(['commit.retried', 'commit.retried']);
    expect(committed).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(200);
    await turns();
    expect(commits).toHaveLength(1);
    expect(committed).toHaveBeenCalledTimes(1);
    expect(committer.busy()).toBe(false);
  });

  it('ends at once when the runner is abandoned, without waiting for the end of the pause', async () => {
    const abandoned = jest.fn();
    const { committer } = world({
      journal: () => {
        throw new Error('unreachable');
      },
    });
    committer.push(finished(0, { abandoned }));
    await turns();
    committer.abandon(new Error('released'));
    await turns();
    expect(abandoned).toHaveBeenCalledTimes(1);
    expect(committer.busy()).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is dropped when another process has committed', async () => {
    const abandoned = jest.fn();
    const { committer, errors } = world({
      journal: () => {
        throw new StateConflict('dc_1', 0, 1);
      },
    });
    committer.push(finished(0, { abandoned }));
    await turns();
    expect(abandoned).toHaveBeenCalledTimes(1);
    expect(errors).toEqual([]);
    expect(committer.abandonedFor).toBeInstanceOf(StateConflict);
  });
});

describe('a commit that is too large for the store', () => {
  const changing = (offset: number, dbChanges: Record<string, string | null>): Finished => {
    const one = finished(offset);
    return { ...one, outcome: ok({ ...one.outcome, dbChanges }) };
  };
  const errorOf = ({ records }: RunCommit): string =>
    records.find(({ headers }) => headers['channel'] === '$errors')?.value ?? '';

  it('is made smaller until only the run that is too large is left, whose changes of the db are refused', async () => {
    const { committer, tracker, commits, errors, refusals } = world({
      journal: ({ parts }) => {
        if ('db/large' in parts) throw new CommitTooLarge('dc_1', '17 MB');
      },
    });
    const runs = Array.from({ length: 5 }, (_, n) => changing(n, { [n === 2 ? 'large' : `small${n}`]: '1' }));
    for (let offset = 0; offset < 5; offset++) tracker.admit({ offset });
    for (const run of runs) committer.push(run);
    await turns();
    expect(commits.flatMap(({ parts }) => Object.keys(parts))).toEqual([
      'db/small0',
      'db/small1',
      'db/small3',
      'db/small4',
    ]);
    // A commit counts only its own runs as done.
    expect(commits.map((commit) => progressOf(commit).through)).toEqual(
      commits.map((_, n) => commits.slice(0, n + 1).flatMap(emitsOf).length - 1),
    );
    expect(commits.flatMap(emitsOf)).toEqual(['0', '1', '2', '3', '4']);
    expect(commits.map(errorOf).filter((text) => text !== '')).toEqual([expect.stringContaining('StateLimitExceeded')]);
    expect(new Set(errors)).toEqual(new Set(['commit.too_large']));
    expect([refusals(), committer.busy()]).toEqual([1, false]);
  });

  it('leaves out ever more: what deduplication remembers, then emits and log lines', async () => {
    const last = { strategy: 'last', id: 'x' } as const;
    const { committer, commits } = world({
      dedupe: { a: last, b: last },
      journal: ({ records }) => {
        if (emitsOf({ records }).length > 0) throw new CommitTooLarge('dc_1', '17 MB');
      },
    });
    committer.push(changing(0, { n: '1' }));
    committer.push(finished(1, {}));
    await turns();
    expect(commits).toHaveLength(2);
    expect(commits[0]?.parts).toEqual({ 'dedupe/a': null, 'dedupe/b': null });
    // They are not removed a second time.
    expect(commits[1]?.parts).toEqual({});
    expect(commits.map(errorOf)).toEqual([expect.stringContaining('17 MB'), expect.stringContaining('17 MB')]);
    expect(committer.busy()).toBe(false);
  });

  it('is tried again with pauses when nothing can be left out any more', async () => {
    const { committer, errors } = world({
      journal: () => {
        throw new CommitTooLarge('dc_1', '17 MB');
      },
    });
    committer.push(finished(0));
    await turns();
    expect(errors).toHaveLength(4);
    await jest.advanceTimersByTimeAsync(100);
    await turns();
    expect(errors).toHaveLength(5);
    committer.abandon(new Error('end of the test'));
  });
});

describe('a commit that cannot be built', () => {
  it('is tried again after pauses that grow, not in a loop', async () => {
    const { committer, errors, built } = world({
      build: () => {
        throw new Error('a fault of the platform');
      },
    });
    committer.push(finished(0));
    await turns();
    expect(built()).toBe(1);
    await jest.advanceTimersByTimeAsync(100);
    await turns();
    expect(built()).toBe(2);
    await jest.advanceTimersByTimeAsync(199);
    await turns();
    expect(built()).toBe(2);
    expect(errors).toEqual(['commit.failed', 'commit.failed']);
    committer.abandon(new Error('end of the test'));
  });

  it('is committed once, with the right progress, when it can be built', async () => {
    let broken = 1;
    const { committer, commits, tracker } = world({
      build: () => {
        if (broken-- > 0) throw new Error('a fault of the platform');
      },
    });
    tracker.admit({ offset: 0 });
    tracker.admit({ offset: 1 });
    committer.push(finished(0));
    committer.push(finished(1));
    await turns();
    await jest.advanceTimersByTimeAsync(100);
    await turns();
    expect(commits).toHaveLength(1);
    expect(commits[0]?.records).toMatchObject([{ value: '0' }, { value: '1' }, { headers: { kind: 'runs' } }]);
    expect(commits.map(progressOf)).toEqual([{ through: 1, above: [] }]);
    expect(committer.busy()).toBe(false);
  });
});
