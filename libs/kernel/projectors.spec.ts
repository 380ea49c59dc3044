import { describe, expect, it } from '@jest/globals';
import { type NewEvent, type RecordedEvent } from './events.js';
import { type Projection } from './projection.js';
import { rebuildProjection } from './projector.js';
import { Projectors } from './projectors.js';
import { InMemoryEventStore } from './testing/in-memory-event-store.js';
import { InMemoryReadModels } from './testing/in-memory-read-models.js';
import { Upcasters } from './upcasting.js';

interface Counter {
  readonly id: string;
  readonly total: number;
  readonly order: string;
}

const counters: Projection<Counter> = {
  name: 'test.counters.v1',
  schema: { name: 'test_counters_v1', indexed: [], sort: 'order' },
  keys: (event) => (event.type === 'Counted' ? [event.stream] : []),
  evolve: (doc, event, id) => {
    const { by } = event.data as { by: number };
    if (by < 0) throw new Error('negative');
    return { id, total: (doc?.total ?? 0) + by, order: event.position };
  },
};

let nextId = 0;
const counted = (by: number): NewEvent => ({
  id: `e${nextId++}`,
  type: 'Counted',
  data: { by },
  metadata: {
    $correlationId: 'c',
    $causationId: 'c',
    commandId: 'c',
    actor: { userId: 'u', apiKeyId: null },
    workspaceId: 'o',
    schemaVersion: 1,
  },
});

const setUp = () => {
  const events = new InMemoryEventStore();
  const readModels = new InMemoryReadModels();
  const failures: Error[] = [];
  const seen: RecordedEvent[] = [];
  const make = () =>
    new Projectors({
      events,
      readModels,
      upcasters: new Upcasters(),
      projections: [counters],
      views: [{ apply: (event) => seen.push(event) }],
      onFailure: (error) => failures.push(error),
      onViewsFailure: (error) => failures.push(error),
    });
  return { events, readModels, failures, seen, make };
};

describe('projectors', () => {
  it('show a command’s events to a reader that waits for its position', async () => {
    const t = setUp();
    const projectors = t.make();
    await projectors.start();
    await t.events.append('counter-a', [counted(1), counted(2)], 'no_stream');
    const { position } = await t.events.append('counter-a', [counted(4)], 1n);
    expect(await projectors.waitFor(position, 5_000)).toBe(true);
    expect(await t.readModels.get<Counter>(counters.schema, 'counter-a')).toMatchObject({ total: 7 });
    expect(t.seen).toHaveLength(3);
    await projectors.stop();
  });

  it('resolve to false when a position is not reached in time', async () => {
    const t = setUp();
    const projectors = t.make();
    await projectors.start();
    expect(await projectors.waitFor('9'.repeat(20), 5)).toBe(false);
    await projectors.stop();
  });

  it('resume from the checkpoint after a restart, and count nothing twice', async () => {
    const t = setUp();
    const first = t.make();
    await first.start();
    const { position } = await t.events.append('counter-a', [counted(1)], 'no_stream');
    await first.waitFor(position, 5_000);
    await first.stop();
    await t.events.append('counter-a', [counted(2)], 0n);
    const second = t.make();
    await second.start();
    expect(await t.readModels.get<Counter>(counters.schema, 'counter-a')).toMatchObject({ total: 3 });
    await second.stop();
  });

  it('stop at a poison event, name its position, and skip nothing', async () => {
    const t = setUp();
    const projectors = t.make();
    await projectors.start();
    const { position } = await t.events.append('counter-a', [counted(1), counted(-1)], 'no_stream');
    while (t.failures.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(t.failures[0]?.message).toContain(`cannot apply Counted at position ${position} (counter-a@1)`);
    expect(projectors.status()[0]?.failure).toContain('test.counters.v1');
    expect(await t.readModels.get(counters.schema, 'counter-a')).toBeUndefined();
    await projectors.stop();
  });

  it('stop when a second owner has moved the checkpoint', async () => {
    const t = setUp();
    const mine = t.make();
    await mine.start();
    const { active, checkpoint } = await t.readModels.register(counters.schema);
    await t.readModels.apply({
      schema: counters.schema,
      generation: active,
      expected: checkpoint,
      next: 'other',
      writes: [],
    });
    await t.events.append('counter-a', [counted(1)], 'no_stream');
    while (t.failures.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(t.failures[0]?.message).toContain('another projector owns it');
    await mine.stop();
  });

  it('rebuild from zero beside the old read model, then switch', async () => {
    const t = setUp();
    const projectors = t.make();
    await projectors.start();
    const { position } = await t.events.append('counter-a', [counted(1), counted(2)], 'no_stream');
    await projectors.waitFor(position, 5_000);
    await projectors.stop();
    const { active, checkpoint } = await t.readModels.register(counters.schema);
    // Corrupts the read model. The log is unchanged.
    const wrong = { id: 'counter-a', total: 99, order: '0' };
    const damage = { schema: counters.schema, generation: active, expected: checkpoint, next: position };
    await t.readModels.apply({ ...damage, writes: [{ op: 'put', doc: wrong }] });
    const targets = { projection: counters, readModels: t.readModels, events: t.events, upcasters: new Upcasters() };
    expect(await rebuildProjection(targets, () => undefined)).toBe(2);
    expect(await t.readModels.get<Counter>(counters.schema, 'counter-a')).toMatchObject({ total: 3 });
  });
});
