import { describe, expect, it } from '@jest/globals';
import { InMemoryDelayedEvents } from '#libs/stream-log/testing/in-memory-delayed-events.js';
import { EventIds } from '#libs/stream-log/event-ids.js';
import { decideRuns, type DecisionContext, type Finished } from './run-commit.js';
import { noEvent } from './run-result.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { ok } from './testing/fake-sandbox.js';

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
