import { describe, expect, it, jest } from '@jest/globals';
import { DomainError } from './domain-error.js';
import { CheckpointConflict } from './read-model-store.js';
import { ReactorRunner, reactionTo, type Reactor } from './reactor.js';
import { ControlPlane } from './testing/control-plane.js';
import { InMemoryReadModels } from './testing/in-memory-read-models.js';

const reactorOf = (handle: Reactor['handle']): Reactor => ({ name: 'specs.count.v1', eventTypes: ['Wanted'], handle });

const world = async (reactor: Reactor, backoffMs: readonly number[] = [0, 0]) => {
  const plane = await ControlPlane.start({ projections: [] });
  const failures: Error[] = [];
  const start = async (): Promise<ReactorRunner> => {
    const { events, readModels, upcasters } = plane;
    const onFailure = (error: Error): number => failures.push(error);
    const runner = new ReactorRunner({ reactor, events, readModels, upcasters, onFailure, backoffMs });
    await runner.start();
    return runner;
  };
  const reached = async (runner: ReactorRunner): Promise<void> => {
    const end = await plane.events.lastPosition();
    while (runner.position() < end && runner.status().failure === undefined) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };
  return { plane, failures, start, reached };
};
const withResolvers = () => {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve: () => resolve() };
};
const wanted = (n: number) => ({ type: 'Wanted', data: { n } });

describe('a reactor', () => {
  it('handles events of its types in order, once over restarts', async () => {
    const seen: unknown[] = [];
    const { plane, start, reached } = await world(reactorOf(async ({ data }) => void seen.push(data)));
    await plane.happened('a-1', wanted(1));
    await plane.happened('a-1', { type: 'Other', data: {} });
    const first = await start();
    await reached(first);
    await first.stop();
    await plane.happened('b-1', wanted(2));
    const second = await start();
    await reached(second);
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
    expect(second.status()).toMatchObject({ name: 'specs.count.v1', caughtUp: true });
    await second.stop();
    await plane.stop();
  });

  it('stores its checkpoint once per batch, and resumes after the last event that it handled', async () => {
    const seen: unknown[] = [];
    const handling = withResolvers();
    const finish = withResolvers();
    const { plane, start, reached } = await world(
      reactorOf(async ({ data }) => {
        seen.push(data);
        if (seen.length !== 2) return;
        handling.resolve();
        await finish.promise;
      }),
    );
    for (const n of [1, 2, 3]) await plane.happened(`a-${n}`, wanted(n));
    const apply = jest.spyOn(plane.readModels, 'apply');
    const first = await start();
    await handling.promise;
    const stopping = first.stop();
    finish.resolve();
    await stopping;
    expect(apply).toHaveBeenCalledTimes(1);
    const second = await start();
    await reached(second);
    await second.stop();
    expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(apply).toHaveBeenCalledTimes(2);
    await plane.stop();
  });

  it('retries without limit on a full disk, because only other failures count', async () => {
    let full = 2;
    const { plane, failures, start, reached } = await world(
      reactorOf(async () => {
        if (full-- > 0) throw new DomainError('platform.storage_full', 'no room');
      }),
      [],
    );
    await plane.happened('a-1', wanted(1));
    const runner = await start();
    await reached(runner);
    expect([runner.status().failure, failures, full]).toEqual([undefined, [], -1]);
    await runner.stop();
    await plane.stop();
  });

  it('handles an event again with the same command id after a crash between the work and the checkpoint', async () => {
    const commands: string[] = [];
    const reactor = reactorOf(async (event) => void commands.push(reactionTo(event, 'specs.count.v1').commandId));
    const { plane, failures, start, reached } = await world(reactor);
    await plane.happened('a-1', wanted(1));
    const apply = plane.readModels.apply.bind(plane.readModels);
    plane.readModels.apply = async () => Promise.reject(new Error('killed'));
    const first = await start();
    await reached(first);
    expect(failures).toHaveLength(1);
    plane.readModels.apply = apply;
    const second = await start();
    await reached(second);
    await second.stop();
    expect(commands).toHaveLength(2);
    expect(commands[0]).toBe(commands[1]);
    await plane.stop();
  });

  it('retries a failure, then stops and names the event', async () => {
    let attempts = 0;
    const reactor = reactorOf(async () => {
      attempts++;
      throw new Error('no such table');
    });
    const { plane, failures, start, reached } = await world(reactor);
    await plane.happened('a-1', wanted(1));
    const runner = await start();
    await reached(runner);
    expect(attempts).toBe(3);
    expect(failures[0]?.message).toMatch(
      /specs\.count\.v1 gave up on Wanted at position 0+1 \(a-1@0\) after 3 attempts/,
    );
    expect(runner.status().failure).toContain('no such table');
    await runner.stop();
    await plane.stop();
  });

  it('goes on after a temporary failure', async () => {
    let attempts = 0;
    const reactor = reactorOf(async () => {
      if (++attempts === 1) throw new Error('busy');
    });
    const { plane, failures, start, reached } = await world(reactor);
    await plane.happened('a-1', wanted(1));
    const runner = await start();
    await reached(runner);
    await runner.stop();
    expect([attempts, failures.length]).toEqual([2, 0]);
    await plane.stop();
  });

  it('can be stopped while it waits to retry', async () => {
    const failed = withResolvers();
    const reactor = reactorOf(async () => {
      failed.resolve();
      throw new Error('down');
    });
    const { plane, failures, start } = await world(reactor, [3_600_000]);
    await plane.happened('a-1', wanted(1));
    const runner = await start();
    await failed.promise;
    await runner.stop();
    expect(failures).toEqual([]);
    await plane.stop();
  });

  it('stops when another owner has moved its checkpoint', async () => {
    const { plane, failures, start, reached } = await world(reactorOf(async () => undefined));
    const runner = await start();
    const schema = { name: 'reactor.specs.count.v1', indexed: [], sort: 'id' };
    await plane.readModels.apply({ schema, generation: 1, expected: null, next: 'elsewhere', writes: [] });
    await plane.happened('a-1', wanted(1));
    await reached(runner);
    expect(failures[0]).toBeInstanceOf(CheckpointConflict);
    await runner.stop();
    await plane.stop();
  });

  it('keeps its checkpoint in a collection without documents', async () => {
    const { plane, start, reached } = await world(reactorOf(async () => undefined));
    await plane.happened('a-1', wanted(1));
    const runner = await start();
    await reached(runner);
    await runner.stop();
    const schema = { name: 'reactor.specs.count.v1', indexed: [], sort: 'id' };
    expect(plane.readModels).toBeInstanceOf(InMemoryReadModels);
    expect(await plane.readModels.page(schema, { where: {}, limit: 10 })).toEqual({ docs: [], total: 0 });
    expect((await plane.readModels.register(schema)).checkpoint).toBe(await plane.events.lastPosition());
    await plane.stop();
  });
});
