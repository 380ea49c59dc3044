import { describe, expect, it } from '@jest/globals';
import { EventIds } from '#libs/stream-log/event-ids.js';
import { EVENT_BYTES, RECORD_BYTES } from '#libs/stream-log/record-limits.js';
import { type EmitCall } from '#libs/component-model/run-output.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { type Execution, noEvent, runResult as lazyResult, type RunResultContext } from './run-result.js';

const execution: Execution = {
  id: 'inv_1',
  sourceId: 'dc_1',
  componentId: 'sc_1',
  workspaceId: 'o_1',
  event: () => '{"in":1}',
  hops: 2,
  emits: true,
};
const outcome = (over: Partial<RunOutcome>): RunOutcome => ({
  status: 'ok',
  emits: [],
  logs: [],
  dbChanges: {},
  startedAt: 5_000,
  endedAt: 6_000,
  ...over,
});
const emit = (payload: unknown, over: Partial<EmitCall> = {}): EmitCall => ({
  payload: JSON.stringify(payload),
  channel: '',
  ...over,
});
const context = (over: Partial<RunResultContext> = {}): RunResultContext => ({
  topic: 'emits.dc_1',
  strategy: null,
  caches: {},
  eventIds: new EventIds(''),
  ...over,
});
const runResult = (...args: Parameters<typeof lazyResult>) => {
  const result = lazyResult(...args);
  return { ...result, records: [...result.records] };
};

describe('the result of a run', () => {
  it('orders emits by ts, counts those without one as now, and gives increasing event ids', () => {
    const emits = [emit('c', { ts: 9_000 }), emit('now'), emit('a', { ts: 1_000 }), emit('b', { ts: 2_000 })];
    const { records } = runResult(execution, outcome({ emits }), context());
    expect(records.map((record) => JSON.parse(record.value) as unknown)).toEqual(['a', 'b', 'now', 'c']);
    expect(records.map((record) => record.headers['id'])).toEqual(['6000-0', '6000-1', '6000-2', '6000-3']);
    expect(records[0]?.headers).toMatchObject({
      emitter: 'dc_1',
      workspace: 'o_1',
      channel: '',
      hops: '2',
      ts: '1000',
    });
  });

  it('names the run on its emits, log lines and errors, and on a released event the run that emitted it', () => {
    const error = { name: 'Error', message: 'no', stack: '', code: 'Error' };
    const logs = [{ k: 'console.log', ts: 1, msg: 'said' }];
    const emits = [emit(1), emit(2, { channel: 'named' }), emit(3, { deliverAt: 9_000 })];
    const { records } = runResult(execution, outcome({ status: 'threw', error, emits, logs }), context());
    expect(records.map(({ headers }) => [headers['channel'], headers['invocation']])).toEqual(
      ['', 'named', '$in', '$logs', '$logs', '$errors'].map((channel) => [channel, 'inv_1']),
    );
    const released = { ...execution, id: 'inv_due', released: 'e', emittedBy: 'inv_1' };
    const [event] = runResult(released, outcome({ emits: [emit(3)] }), context()).records;
    expect(event?.headers).toMatchObject({ emit: 'e', invocation: 'inv_1' });
  });

  it('leaves out the original event of an error that would be too large for the log, and tells its size', () => {
    const error = { name: 'Error', message: 'no', stack: '', code: 'Error' };
    const errorOf = (event: string): Record<string, unknown> => {
      const { records } = runResult(
        { ...execution, event: () => event },
        outcome({ status: 'threw', error }),
        context(),
      );
      return JSON.parse(records.at(-1)?.value ?? '') as Record<string, unknown>;
    };
    const fits = JSON.stringify('x'.repeat(EVENT_BYTES - 2));
    expect(errorOf(fits)).toMatchObject({ original_event: fits.slice(1, -1), error: { message: 'no' } });
    const large = JSON.stringify('x'.repeat(RECORD_BYTES));
    expect(errorOf(large)).toMatchObject({
      original_event: null,
      original_event_bytes: RECORD_BYTES + 2,
      original_context: { id: 'inv_1' },
      error: { message: 'no' },
    });
  });

  it('dedupes per channel, so one id on two channels passes on both', () => {
    const emits = [emit(1, { id: 7, channel: 'self' }), emit(2, { id: 7 }), emit(3, { id: 7 })];
    const result = runResult(execution, outcome({ emits }), context({ strategy: 'unique' }));
    const kept = result.records.filter((record) => record.headers['channel'] !== '$logs');
    expect(kept.map((record) => record.value)).toEqual(['1', '2']);
    expect(result.duplicates).toBe(1);
    expect(result.dedupe).toEqual({
      self: { strategy: 'unique', ids: ['7'] },
      '': { strategy: 'unique', ids: ['7'] },
    });
    const log = result.records.find((record) => record.headers['channel'] === '$logs');
    expect(JSON.parse(log?.value ?? '')).toMatchObject({ k: 'dedupe', msg: '1 duplicate event(s) dropped' });
  });

  it('passes thirty newest-first emits with ts under "greatest", and none of them a second time', () => {
    const emits = Array.from({ length: 30 }, (_, i) => emit(i, { id: 100 - i, ts: 100 - i }));
    const first = runResult(execution, outcome({ emits }), context({ strategy: 'greatest' }));
    expect(first.emitted).toBe(30);
    const again = runResult(execution, outcome({ emits }), context({ strategy: 'greatest', caches: first.caches }));
    expect(again.emitted).toBe(0);
  });

  it('keeps emits before a throw, and reports the error on $errors and $logs', () => {
    const error = { name: 'TypeError', message: 'no', stack: 'TypeError: no\n  at x', code: 'TypeError' };
    const { records } = runResult(execution, outcome({ status: 'threw', emits: [emit('kept')], error }), context());
    expect(records.map((record) => record.headers['channel'])).toEqual(['', '$logs', '$errors']);
    expect(JSON.parse(records[2]?.value ?? '')).toEqual({
      original_event: { in: 1 },
      original_context: {
        id: 'inv_1',
        ts: '1970-01-01T00:00:06.000Z',
        source_id: 'dc_1',
        component_id: 'sc_1',
        owner_id: 'o_1',
      },
      error: {
        code: 'TypeError',
        name: 'TypeError',
        message: 'no',
        ts: '1970-01-01T00:00:06.000Z',
        stack: error.stack,
      },
    });
  });

  it('marks all that is left by an execution whose sender asked for no storage', () => {
    const error = { name: 'TypeError', message: 'no', stack: '', code: 'TypeError' };
    const logs = [{ k: 'console.log', ts: 5_500, msg: 'hi' }];
    const left = outcome({ status: 'threw', emits: [emit(1), emit(2, { deliverAt: 9_000 })], logs, error });
    const { records } = runResult({ ...execution, nostore: true }, left, context());
    expect(records.map(({ headers }) => [headers['channel'], headers['nostore']])).toEqual(
      ['', '$in', '$logs', '$logs', '$errors'].map((channel) => [channel, '1']),
    );
  });

  it('marks the start of a hook in $logs, and drops emits of a deploy hook that must not emit', () => {
    const hook = { ...execution, event: noEvent, hook: 'deploy' as const, emits: false };
    const { records } = runResult(
      hook,
      outcome({ emits: [emit('x')], logs: [{ k: 'console.log', ts: 5_500, msg: 'hi' }] }),
      context(),
    );
    expect(records.map((record) => JSON.parse(record.value) as unknown)).toEqual([
      { k: 'hook', ts: 5_000, h: 'deploy' },
      { k: 'console.log', ts: 5_500, msg: 'hi' },
    ]);
  });

  // docs/reference/rest-api.md#emit-id
  it('gives the emits of a repeated execution the same ids, although it starts later', () => {
    const emits = [emit('a'), emit('b')];
    const idsOf = (startedAt: number) =>
      runResult({ ...execution, at: 4_000 }, outcome({ emits, startedAt }), context()).records.map(
        (record) => record.headers['emit'],
      );
    expect(idsOf(5_000)).toEqual(idsOf(65_000));
    expect(new Set(idsOf(5_000)).size).toBe(2);
  });

  it('keeps the type of the id given to $emit', () => {
    const { records } = runResult(execution, outcome({ emits: [emit(1, { id: 42, summary: 's' })] }), context());
    expect(records[0]?.headers).toMatchObject({ dedupe: '42', summary: 's' });
  });
});
