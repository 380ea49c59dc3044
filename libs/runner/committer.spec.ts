import { describe, expect, it } from '@jest/globals';
import { InMemoryDueStore } from '#libs/due/testing/in-memory-due-store.js';
import { Committer } from './committer.js';
import { type Decision, type Executable, type Input } from './executable.js';
import { HeardEmits } from './heard-emits.js';
import { type Invocation } from './invocation.js';
import { LaneTracker } from './lane-tracker.js';
import { InMemoryJournal } from './testing/in-memory-journal.js';

/** Waits for each visitor, and counts the waits that ended by their alarm. It ignores the alarm of an earlier visit. */
type Visit = Input & { readonly kind: 'arrival' | 'alarm'; readonly visitor: string };

interface Doors {
  readonly waiting: ReadonlySet<string>;
  readonly closed: number;
}

class Doorbell implements Executable<Doors, Visit> {
  readonly id = 'p_door';
  readonly cuts = ['nothing'];

  constructor(readonly prepare: () => Promise<void>) {}

  async decide(state: Doors, visits: readonly Visit[]): Promise<Decision<Doors>> {
    const waiting = new Set(state.waiting);
    let { closed } = state;
    const facts: Record<string, string | null> = {};
    const alarms = [];
    for (const { kind, visitor } of visits) {
      if (kind === 'arrival') {
        waiting.add(visitor);
        facts[`visit/${visitor}`] = 'waits';
        const record = { topic: 'invocations.p_door', key: this.id, headers: {}, value: visitor };
        alarms.push({ id: `${visitor}/1`, owner: this.id, kind: 'delayed' as const, dueAt: 5, record });
      } else if (waiting.delete(visitor)) {
        facts[`visit/${visitor}`] = null;
        closed++;
      }
    }
    const records = [{ topic: 'emits.p_door', key: this.id, headers: {}, value: String(closed) }];
    return { facts, records, alarms, lastEventId: '', next: { waiting, closed } };
  }

  weightOf() {
    return { bytes: 0, records: 1 };
  }

  release(): void {
    // A visit has no resources.
  }
}

const world = (journal = new InMemoryJournal(), due = new InMemoryDueStore(), prepare = () => Promise.resolve()) => {
  const { version, progress, own } = journal.laneOf('p_door');
  const tracker = new LaneTracker(progress);
  const waiting = new Set(Object.keys(own).map((name) => name.slice('visit/'.length)));
  let idle = (): void => undefined;
  const committer = new Committer({
    executable: new Doorbell(prepare),
    deps: { journal, due, metrics: { platformFailure: () => undefined }, logger: { error: () => undefined } },
    version,
    state: { waiting, closed: 0 },
    lastEventId: '',
    tracker,
    heard: new HeardEmits({}),
    onIdle: () => idle(),
    onConflict: () => undefined,
  });
  const push = (kind: Visit['kind'], visitor: string, offset: number): Promise<boolean> => {
    const record = { topic: 't', lane: 't', key: 'p_door', offset, timestamp: 1, value: '', size: 1 };
    const headers = { id: `inv_${offset}`, kind: 'manual' };
    const invocation = { record: { ...record, headers: {} }, headers } as unknown as Invocation;
    tracker.admit({ offset });
    return new Promise((resolve) => {
      const ends = { committed: () => resolve(true), abandoned: () => resolve(false) };
      committer.push({ kind, visitor, invocation, ...ends });
    });
  };
  const untilIdle = (): Promise<void> => new Promise((resolve) => (idle = resolve));
  return { journal, due, committer, push, untilIdle };
};

describe('an executable that is no source', () => {
  it('commits its facts, records and place in the lane together, and continues from them', async () => {
    const before = world();
    await Promise.all([before.push('arrival', 'ann', 0), before.push('arrival', 'bob', 1)]);
    expect(before.journal.laneOf('p_door')).toMatchObject({
      version: 1,
      progress: { through: 1, above: [] },
      own: { 'visit/ann': 'waits', 'visit/bob': 'waits' },
    });
    const after = world(before.journal, before.due);
    expect(await after.push('alarm', 'ann', 2)).toBe(true);
    expect(after.committer.state).toMatchObject({ closed: 1, waiting: new Set(['bob']) });
    expect({ ...after.journal.laneOf('p_door').own }).toEqual({ 'visit/bob': 'waits' });
    expect(after.journal.records.map(({ value }) => value)).toEqual(['0', '1']);
  });

  it('puts its alarms before its state is written, so that a crash between them leaves no wait without an end', async () => {
    const { journal, due, push, committer } = world();
    journal.held = new Promise(() => undefined);
    const lost = push('arrival', 'ann', 0);
    for (let turns = 0; turns < 100 && journal.waiting === 0; turns++) await new Promise((next) => setImmediate(next));
    expect((await due.dueBy(10, 10)).map(({ id }) => id)).toEqual(['ann/1']);
    expect(journal.laneOf('p_door').version).toBe(0);
    committer.abandon(new Error('the process died'));
    expect(await lost).toBe(false);
    journal.held = undefined;

    // The alarm finds no such wait. The arrival is redelivered, and puts the alarm again under the same id.
    const again = world(journal, due);
    await again.push('alarm', 'ann', 1);
    expect(again.committer.state.closed).toBe(0);
    await again.push('arrival', 'ann', 0);
    expect((await due.dueBy(10, 10)).map(({ id }) => id)).toEqual(['ann/1']);
  });

  it('commits what arrives while it prepares together with what was there', async () => {
    let prepared = (): void => undefined;
    let begun = (): void => undefined;
    const preparing = new Promise<void>((resolve) => (begun = resolve));
    const { journal, push } = world(undefined, undefined, () => {
      begun();
      return new Promise((resolve) => (prepared = resolve));
    });
    const first = push('arrival', 'ann', 0);
    await preparing;
    const second = push('arrival', 'bob', 1);
    prepared();
    expect(await Promise.all([first, second])).toEqual([true, true]);
    expect(journal.laneOf('p_door').version).toBe(1);
  });
});
