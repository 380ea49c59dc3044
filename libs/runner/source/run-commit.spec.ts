import { describe, expect, it } from '@jest/globals';
import { InMemoryDelayedEvents } from '#libs/stream-log/testing/in-memory-delayed-events.js';
import { type InvocationHeaders } from '#libs/stream-log/envelopes.js';
import { EventIds } from '#libs/stream-log/event-ids.js';
import { runsOf } from '#libs/stream-log/source-runs.js';
import { decideRuns, type DecisionContext, type Finished } from './run-commit.js';
import { noEvent } from './run-result.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { ok } from './testing/fake-sandbox.js';
import { invocationHeaders } from './testing/source-world.js';

const context = (): DecisionContext => ({
  sourceId: 'dc_1',
  topic: 'emits.dc_1',
  strategy: null,
  state: { dedupe: {}, db: {} },
  eventIds: new EventIds(''),
  delayed: new InMemoryDelayedEvents(),
  metrics: { emits: () => undefined, duplicates: () => undefined },
});

const finished = (id: string, outcome: RunOutcome): Finished => ({
  execution: {
    id,
    sourceId: 'dc_1',
    componentId: 'sc_1',
    workspaceId: 'o_1',
    event: noEvent,
    hops: 0,
    emits: true,
  },
  outcome,
  invocation: undefined,
  committed: () => undefined,
});

const emitting = (count: number, first = 0): RunOutcome =>
  ok({ emits: Array.from({ length: count }, (_, i) => ({ payload: String(first + i), channel: '' })) });

const withInvocation = (run: Finished, headers: Partial<InvocationHeaders> = {}): Finished => {
  const given = invocationHeaders(run.execution.id, headers);
  const record = { topic: 't', lane: 't', key: 'dc_1', offset: 1, timestamp: 900, size: 1, headers: given, value: '' };
  return { ...run, invocation: { record, headers: given, ack: () => undefined, revoked: () => false } };
};

describe('the runs of a commit', () => {
  it('count what they emitted for their workspace', async () => {
    const counted: unknown[] = [];
    const metrics = { emits: (...args: unknown[]) => void counted.push(args), duplicates: () => undefined };
    await decideRuns([finished('a', emitting(2))], { ...context(), metrics });
    expect(counted).toEqual([[2, 'o_1']]);
  });
});

describe('the record of the runs of a commit', () => {
  it('tells of each run what it left, in one record behind all others', async () => {
    const line = { k: 'console.log', ts: 1, msg: 'x' };
    const error = { name: 'TypeError', message: 'no', stack: 's', code: 'TypeError' };
    const response = { status: 202, headers: {}, body: '', base64: false };
    const batch = [
      withInvocation(finished('a', { ...emitting(2), logs: [line], response, startedAt: 1_000, endedAt: 1_007 })),
      withInvocation({ ...finished('b', ok({ status: 'threw', error })), attempts: 2 }, { kind: 'timer' }),
    ];
    const { records } = await decideRuns(batch, context());
    const told = records.filter(({ headers }) => headers['kind'] === 'runs');
    expect(told).toEqual([records.at(-1)]);
    const [first, second] = runsOf(told[0] ?? { value: '[]' });
    expect(first).toEqual({
      id: 'a',
      kind: 'http',
      status: 'ok',
      queuedAt: 900,
      startedAt: 1_000,
      ms: 7,
      emits: 2,
      delayed: 0,
      logs: 1,
      httpStatus: 202,
      attempts: 1,
      firstEvent: records[0]?.headers['id'],
      error: null,
    });
    expect(second).toMatchObject({ id: 'b', kind: 'timer', status: 'threw', emits: 0, logs: 1, attempts: 2 });
    expect(second).toMatchObject({
      httpStatus: null,
      firstEvent: records[3]?.headers['id'],
      error: { name: 'TypeError', message: 'no' },
    });
  });

  it('counts the events that deduplication let through, and those that wait for their time', async () => {
    const emits = [
      { payload: '1', channel: '', id: 1 },
      { payload: '2', channel: '', id: 1 },
      { payload: '3', channel: '', id: 3, deliverAt: 99_999 },
    ];
    const run = withInvocation(finished('a', { ...ok({ emits }), delays: true }));
    const { records } = await decideRuns([run], { ...context(), strategy: 'unique' });
    const [told] = runsOf(records.at(-1) ?? { value: '[]' });
    expect(told).toMatchObject({ emits: 2, delayed: 1, logs: 1 });
  });

  it('names a hook as such, and says nothing of lines of the platform', async () => {
    const hook = finished('h', ok());
    const batch = [{ ...hook, execution: { ...hook.execution, hook: 'activate' as const } }, finished('p', ok())];
    const { records } = await decideRuns(batch, context());
    expect(runsOf(records.at(-1) ?? { value: '[]' }).map(({ id, kind }) => [id, kind])).toEqual([['h', 'hook']]);
    expect((await decideRuns([finished('p', ok())], context())).records).toEqual([]);
  });

  it('has the error in place of changes that the commit refused', async () => {
    const { records } = await decideRuns(
      [withInvocation(finished('a', emitting(3)))],
      context(),
      'output',
      'too large',
    );
    const [told] = runsOf(records.at(-1) ?? { value: '[]' });
    expect(told).toMatchObject({ status: 'threw', emits: 0, error: { name: 'StateLimitExceeded' } });
  });
});

describe('the counts of a source', () => {
  it('go on from commit to commit, with the record of the runs', async () => {
    const error = { name: 'Error', message: 'no', stack: 's', code: 'Error' };
    const at = 490_000 * 3_600_000;
    const failed = withInvocation(finished('a', { ...emitting(2), status: 'threw', error, endedAt: at }));
    const first = await decideRuns([failed, finished('late', { ...emitting(1), endedAt: at + 1 })], context());
    expect(first.records.at(-1)?.headers['counts']).toBe(`[${at + 1},${at},490000,3,1]`);
    expect(first.counts).toBe(first.next.counts);
    const again = { ...context(), state: first.next };
    const { counts } = await decideRuns([withInvocation(finished('b', { ...emitting(4), endedAt: at + 2 }))], again);
    expect(counts).toBe(`[${at + 2},${at},490000,7,1]`);
  });
});

describe('the commit of several runs', () => {
  it('holds the emits of all of them in order, and the last event id', async () => {
    const batch = [finished('a', emitting(700)), finished('b', emitting(2, 700))];
    const { records, lastEventId } = await decideRuns(batch, context());
    expect(records.map(({ value }) => Number(value))).toEqual(Array.from({ length: 702 }, (_, i) => i));
    expect(lastEventId).toBe(records.at(-1)?.headers['id']);
  });

  it('removes only names that are stored, however many the runs removed', async () => {
    const last = { strategy: 'last', id: 'x' } as const;
    const state = { ...context().state, db: { stored: '1' }, dedupe: { '': last } };
    const batch = [
      finished('a', ok({ dbChanges: { passing: '1', stored: null } })),
      finished('b', ok({ dbChanges: { passing: null, absent: null, kept: '2' } })),
    ];
    const { facts, next } = await decideRuns(batch, { ...context(), state });
    expect(facts).toEqual({ 'db/stored': null, 'db/kept': '2' });
    expect({ ...next.db }).toEqual({ kept: '2' });
  });

  it('names the emits that it dropped as repeats, and no others', async () => {
    const repeated = ok({ emits: ['a', 'b', 'a'].map((id) => ({ payload: `"${id}"`, channel: '', id })) });
    const batch = [finished('a', repeated), finished('b', ok({ emits: [{ payload: '1', channel: '', id: 'b' }] }))];
    const { dropped } = await decideRuns(batch, { ...context(), strategy: 'unique' });
    expect(dropped).toEqual(new Set([repeated.emits[2], batch[1]?.outcome?.emits[0]]));
    expect((await decideRuns(batch, context())).dropped).toBeUndefined();
  });

  it('is built in several turns of the event loop when there are many emits', async () => {
    let turns = 0;
    let going = true;
    const count = (): void => {
      turns++;
      if (going) setImmediate(count);
    };
    setImmediate(count);
    await decideRuns([finished('a', emitting(5_000))], context());
    const forMany = turns;
    await decideRuns([finished('b', emitting(100))], context());
    going = false;
    expect(forMany).toBeGreaterThanOrEqual(Math.floor(5_000 / 256));
    expect(turns - forMany).toBeLessThanOrEqual(1);
  });
});
