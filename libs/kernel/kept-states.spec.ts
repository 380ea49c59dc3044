import { describe, expect, it } from '@jest/globals';
import { type Decider } from './decider.js';
import { type ReadOptions } from './event-store.js';
import { commandHandler } from './handle-command.js';
import { KeptStates } from './kept-states.js';
import { context } from './testing/counter.js';
import { InMemoryEventStore } from './testing/in-memory-event-store.js';
import { Upcasters } from './upcasting.js';

interface Taken {
  readonly type: 'Taken';
  readonly data: { readonly name: string };
}

/** Names, each taken once. */
const names: Decider<string, Taken, readonly string[]> = {
  category: 'names',
  initialState: () => [],
  decide: (name, taken) => (taken.includes(name) ? [] : [{ type: 'Taken', data: { name } }]),
  evolve: (taken, { data }) => [...taken, data.name],
  compact: (taken) => ({ state: [...taken], size: taken.length }),
};

/** Counts the events that it reads. */
class CountingStore extends InMemoryEventStore {
  count = 0;
  override async *read(stream: string, options?: ReadOptions): ReturnType<InMemoryEventStore['read']> {
    for await (const event of super.read(stream, options)) {
      this.count++;
      yield event;
    }
  }
}

describe('the state of a long stream', () => {
  const setUp = () => {
    const store = new CountingStore({ now: () => 1 });
    const process = () => commandHandler({ store, upcasters: new Upcasters() });
    const readBy = async (work: () => Promise<unknown>): Promise<number> => {
      const before = store.count;
      await work();
      return store.count - before;
    };
    return { store, process, readBy };
  };

  it('is kept, so that a command reads only what came since, from other processes too', async () => {
    const { process, readBy } = setUp();
    const [one, other] = [process(), process()];
    for (let n = 0; n < 100; n++) await one(names, 'a', `name-${n}`, context(`cmd-${n}`));
    expect(await readBy(() => one(names, 'a', 'one', context('one')))).toBeLessThanOrEqual(1);
    expect(await readBy(() => other(names, 'a', 'other', context('other')))).toBe(101);
    const again = await one(names, 'a', 'other', context('again'));
    expect(again.events).toEqual([]);
    expect(again.revision).toBe(101n);
    const third = await one(names, 'a', 'third', context('third'));
    expect(third.state).toHaveLength(103);
  });

  it('is decided again after a conflict with another process', async () => {
    const { process } = setUp();
    const [one, other] = [process(), process()];
    for (let n = 0; n < 100; n++) await one(names, 'a', `name-${n}`, context(`cmd-${n}`));
    const both = await Promise.all([one, other].map((handle, n) => handle(names, 'a', 'same', context(`same-${n}`))));
    expect(both.flatMap(({ events }) => events)).toHaveLength(1);
  });

  it('is not kept while the stream is short, nor of a decider that cannot make it small', async () => {
    const { process, readBy } = setUp();
    const one = process();
    const { compact: _, ...plain } = names;
    for (let n = 0; n < 50; n++) await one(names, 'short', `name-${n}`, context(`short-${n}`));
    for (let n = 0; n < 100; n++) await one(plain, 'long', `name-${n}`, context(`long-${n}`));
    expect(await readBy(() => one(names, 'short', 'x', context('x')))).toBe(50);
    expect(await readBy(() => one(plain, 'long', 'y', context('y')))).toBe(100);
  });

  it('is forgotten first when it was used longest ago, and not kept beyond the limit', () => {
    const kept = new KeptStates(250);
    const keep = (stream: string, length: number): void => {
      const state = Array.from({ length }, (_, n) => `name-${n}`);
      kept.set(names, stream, { state, revision: BigInt(length) }, length);
    };
    for (const stream of ['a', 'b']) keep(stream, 100);
    kept.get('a');
    keep('c', 100);
    expect(['a', 'b', 'c'].map((stream) => kept.get(stream) !== undefined)).toEqual([true, false, true]);
    keep('d', 300);
    expect(['a', 'c', 'd'].map((stream) => kept.get(stream) !== undefined)).toEqual([true, true, false]);
  });
});
