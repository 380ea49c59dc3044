import { describe, expect, it } from '@jest/globals';
import { RevisionConflict } from './event-store.js';
import { type RecordedEvent } from './events.js';
import { commandHandler } from './handle-command.js';
import { context, counter } from './testing/counter.js';
import { given } from './testing/decider-specification.js';
import { InMemoryEventStore } from './testing/in-memory-event-store.js';
import { Upcasters } from './upcasting.js';

const setUp = (options: { maxAttempts?: number } = {}) => {
  const store = new InMemoryEventStore({ now: () => 1000 });
  const upcasters = new Upcasters();
  const handle = commandHandler({ store, upcasters, ...options });
  const events = async (): Promise<RecordedEvent[]> => {
    const all: RecordedEvent[] = [];
    for await (const event of store.read('counter-c1')) all.push(event);
    return all;
  };
  return { store, upcasters, handle, events };
};

describe('a command', () => {
  it('appends the decided events, with metadata set in one place', async () => {
    const { handle, events } = setUp();
    const result = await handle(counter, 'c1', { amount: 3 }, context('cmd-1', { traceparent: '00-a-b-01' }));

    expect(result).toMatchObject({ state: 3, revision: 0n, position: '00000000000000000001' });
    expect(await events()).toMatchObject([
      {
        type: 'Added',
        stream: 'counter-c1',
        metadata: {
          $correlationId: 'corr-1',
          $causationId: 'cmd-1',
          commandId: 'cmd-1',
          actor: { userId: 'u_1', apiKeyId: 'key_1' },
          workspaceId: 'o_1',
          schemaVersion: 1,
          traceparent: '00-a-b-01',
        },
      },
    ]);
  });

  it('that changes nothing writes nothing and has no position', async () => {
    const { handle, events } = setUp();
    const result = await handle(counter, 'c1', { amount: 0 }, context('cmd-1'));
    expect(result).toEqual({ state: 0, events: [], revision: 'no_stream' });
    expect(await events()).toEqual([]);
  });

  it('that a rule forbids writes nothing', async () => {
    const { handle, events } = setUp();
    await expect(handle(counter, 'c1', { amount: 11 }, context('cmd-1'))).rejects.toThrow('total 11 is above 10');
    expect(await events()).toEqual([]);
  });

  it('decides again on the state that a rival left', async () => {
    const { store, handle, events } = setUp();
    await handle(counter, 'c1', { amount: 1 }, context('cmd-1'));
    store.onNextAppend(async () => void (await handle(counter, 'c1', { amount: 5 }, context('rival'))));

    const result = await handle(counter, 'c1', { amount: 2 }, context('cmd-2'));
    expect(result).toMatchObject({ state: 8, revision: 2n });
    expect((await events()).map((event) => event.metadata.commandId)).toEqual(['cmd-1', 'rival', 'cmd-2']);
  });

  it('is refused when the rival’s events make a rule forbid it', async () => {
    const { store, handle } = setUp();
    store.onNextAppend(async () => void (await handle(counter, 'c1', { amount: 9 }, context('rival'))));
    await expect(handle(counter, 'c1', { amount: 2 }, context('cmd-1'))).rejects.toThrow('total 11 is above 10');
  });

  it('gives up after the maximum of attempts, naming both revisions', async () => {
    const { store, handle } = setUp({ maxAttempts: 2 });
    let rivals = 0;
    const rival = async (): Promise<void> => {
      const id = `rival-${++rivals}`;
      await commandHandler({ store, upcasters: new Upcasters() })(counter, 'c1', { amount: 1 }, context(id));
      store.onNextAppend(rival);
    };
    store.onNextAppend(rival);
    const failure = await handle(counter, 'c1', { amount: 1 }, context('cmd-1')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RevisionConflict);
    expect(failure).toMatchObject({ stream: 'counter-c1', expected: 0n, actual: 1n });
  });

  it('sent twice is executed once and answered with the same position', async () => {
    const { handle, events } = setUp();
    const first = await handle(counter, 'c1', { amount: 3 }, context('cmd-1'));
    await handle(counter, 'c1', { amount: 1 }, context('cmd-2'));
    const repeat = await handle(counter, 'c1', { amount: 3 }, context('cmd-1'));

    // No event of the second command is written.
    expect(repeat).toEqual({ state: 3, events: [], position: first.position, revision: first.revision });
    expect(await events()).toHaveLength(2);
  });

  it('sent twice at the same time is executed once', async () => {
    const { handle, events } = setUp();
    const [one, two] = await Promise.all([
      handle(counter, 'c1', { amount: 3 }, context('cmd-1')),
      handle(counter, 'c1', { amount: 3 }, context('cmd-1')),
    ]);
    expect(one.position).toBe(two.position);
    expect(await events()).toHaveLength(1);
  });

  it('whose answer was lost after the append is answered from the log on a retry', async () => {
    const { store, handle, events } = setUp();
    // The first attempt appended, and then the process died. The repeat decides on a state with its own events.
    await handle(counter, 'c1', { amount: 6 }, context('cmd-1'));
    const result = await commandHandler({ store, upcasters: new Upcasters() })(
      counter,
      'c1',
      { amount: 6 },
      context('cmd-1'),
    );
    expect(result.state).toBe(6);
    expect(await events()).toHaveLength(1);
  });

  it('folds old events through their upcasters and stamps the current version', async () => {
    const { store, handle, upcasters, events } = setUp();
    const metadata = { ...context('old'), $correlationId: 'c', $causationId: 'c', schemaVersion: 1 };
    await store.append('counter-c1', [{ id: 'e1', type: 'Added', data: { by: 4 }, metadata }], 'no_stream');
    upcasters.register('Added', [({ by }) => ({ amount: by })]);

    expect(await handle(counter, 'c1', { amount: 1 }, context('cmd-1'))).toMatchObject({ state: 5 });
    expect((await events()).map((event) => event.metadata.schemaVersion)).toEqual([1, 2]);
  });
});

describe('decider-specification', () => {
  it('passes when the decider does what is expected', () => {
    given(counter)
      .when({ amount: 1 })
      .then({ type: 'Added', data: { amount: 1 } });
    given(counter).when({ amount: 0 }).thenNothingHappened();
    given(counter, [{ type: 'Added', data: { amount: 9 } }])
      .when({ amount: 2 })
      .thenThrows('request.invalid_parameter', /above 10/);
    given(counter, [{ type: 'Added', data: { amount: 1 } }])
      .when({ amount: 2 })
      .thenState((total) => expect(total).toBe(3));
  });

  it('fails when the decider does anything else', () => {
    expect(() => given(counter).when({ amount: 1 }).thenNothingHappened()).toThrow();
    expect(() => given(counter).when({ amount: 1 }).thenThrows('source.not_found')).toThrow(/got the result/);
  });
});
