import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sharedTopics } from '#libs/stream-log/topics.js';
import { type RunRequest } from '#libs/sandbox/index.js';
import { ok } from './testing/fake-sandbox.js';
import { RunnerWorld } from './testing/runner-world.js';
import { until } from './testing/source-world.js';

const auto = (request: RunRequest) => ok({ emits: [{ payload: request.event, channel: '' }] });

describe('runners of one installation', () => {
  let world: RunnerWorld;
  beforeEach(() => {
    world = new RunnerWorld();
  });
  afterEach(() => world.close());

  /** Commits as a previous owner that has not noticed the loss of its source. */
  const commitBehindTheBack = async (sourceId: string): Promise<void> => {
    const { version, head } = await world.journal.load({ executable: sourceId });
    const changes = { parts: { 'db/stale': '1' }, inbox: [], records: [] };
    await world.journal.commit({ executable: sourceId, expectedVersion: version, head, ...changes });
  };

  it('let a source move: the former owner finishes its runs, and the next one continues after them', async () => {
    await world.source('dc_1');
    await world.source('dc_2');
    const first = await world.process();
    await world.invoke('dc_2', ['a']);
    await until(() => first.sandboxes.runs().length === 1);

    const second = await world.process({ auto });
    await world.invoke('dc_2', ['b']);
    first.sandboxes.started[0]?.end('a', auto({ event: '"a"', invocationId: 'a', timeoutMs: 1 }));
    await until(() => world.open('dc_2') === 0);
    expect([first.sandboxes.runs(), second.sandboxes.runs()]).toEqual([['a'], ['b']]);
    expect(world.emitted('dc_2')).toEqual(['"a"', '"b"']);
    expect(first.sandboxes.started[0]?.alive()).toBe(false);
    expect(world.journal.states.get('dc_2')?.version).toBe(2);
  });

  it('hold back a paused source without loss, resume it afterwards, and do not hold back others', async () => {
    await world.source('dc_1');
    await world.source('dc_2');
    let paused = true;
    const isPaused = (sourceId: string): boolean => paused && sourceId === 'dc_1';
    const { sandboxes } = await world.process({ auto, isPaused });
    await world.invoke('dc_1', ['a', 'b']);
    await world.invoke('dc_2', ['c']);
    await until(() => world.open('dc_2') === 0);
    expect([sandboxes.runs(), world.open('dc_1')]).toEqual([['c'], 2]);
    paused = false;
    await until(() => world.open('dc_1') === 0);
    expect(sandboxes.runs()).toEqual(['c', 'a', 'b']);
  });

  it('load a source again when its lane comes back', async () => {
    await world.source('dc_1');
    await world.source('dc_2');
    const first = await world.process({ auto });
    await world.invoke('dc_2', ['a']);
    await until(() => world.open('dc_2') === 0);
    const second = await world.process({ auto });
    await world.invoke('dc_2', ['b']);
    await until(() => world.open('dc_2') === 0);
    await second.runner.close();
    await world.invoke('dc_2', ['c']);
    await until(() => world.open('dc_2') === 0);
    expect([first.sandboxes.runs(), second.sandboxes.runs()]).toEqual([['a', 'c'], ['b']]);
    expect(world.journal.states.get('dc_2')?.version).toBe(3);
    expect(first.logged).toEqual([]);
  });

  it('lose nothing when a former owner commits late, because the new owner reloads and runs its records', async () => {
    await world.source('dc_1');
    const { sandboxes, logged } = await world.process();
    await world.invoke('dc_1', ['a', 'b']);
    await until(() => sandboxes.runs().length === 2);
    await commitBehindTheBack('dc_1');
    sandboxes.started[0]?.end('b');
    await until(() => sandboxes.runs().length === 4);
    expect(logged).toEqual(['run.conflict: loading again']);
    const again = sandboxes.started[1];
    expect(again?.started).toEqual(['a', 'b']);
    expect(again?.spec.db).toEqual({ stale: '1' });
    expect(sandboxes.started[0]?.alive()).toBe(false);
    await world.invoke('dc_1', ['c']);
    for (const id of ['a', 'b', 'c']) {
      await until(() => again?.pending.has(id) === true);
      again?.end(id);
    }
    await until(() => world.open('dc_1') === 0);
    expect(world.journal.laneOf('dc_1').progress).toEqual({ through: 2, above: [] });
  });

  it('lose nothing when the state cannot be read after a conflict', async () => {
    await world.source('dc_1');
    const { sandboxes, logged } = await world.process({ auto });
    await world.invoke('dc_1', ['a']);
    await until(() => world.open('dc_1') === 0);
    await commitBehindTheBack('dc_1');
    world.journal.failuresToLoad = 2;
    await world.invoke('dc_1', ['b']);
    await until(() => world.open('dc_1') === 0);
    expect(sandboxes.runs()).toEqual(['a', 'b', 'b']);
    expect(logged.filter((message) => message === 'run.load_failed')).toHaveLength(2);
    expect(world.emitted('dc_1')).toEqual(['"a"', '"b"']);
  });

  it('keep nothing of the work of an owner that counts as dead', async () => {
    await world.source('dc_1');
    const stale = await world.process();
    await world.invoke('dc_1', ['a']);
    await until(() => stale.sandboxes.runs().length === 1);
    world.log.crash();
    const next = await world.process({ auto });
    await until(() => world.open('dc_1') === 0);
    stale.sandboxes.started[0]?.end('a', ok({ emits: [{ payload: '"stale"', channel: '' }] }));
    await until(() => stale.logged.length === 1);
    await until(() => stale.sandboxes.started[0]?.alive() === false);
    expect([stale.sandboxes.runs(), next.sandboxes.runs()]).toEqual([['a'], ['a']]);
    expect(world.emitted('dc_1')).toEqual(['"a"']);
  });

  it('run the first invocation of a source that they do not know yet', async () => {
    await world.source('dc_1');
    const { sandboxes } = await world.process({ auto, behind: true });
    await world.invoke('dc_1', ['a']);
    await until(() => world.open('dc_1') === 0);
    expect(sandboxes.runs()).toEqual(['a']);
  });

  it('acknowledge runs that end while they close, and leave the rest to other processes', async () => {
    await world.source('dc_1');
    const { runner, sandboxes } = await world.process();
    await world.invoke('dc_1', ['a']);
    await until(() => sandboxes.runs().length === 1);
    const closed = runner.close();
    await world.invoke('dc_1', ['b']);
    sandboxes.started[0]?.end('a');
    await closed;
    expect(world.open('dc_1')).toBe(1);
    expect(sandboxes.runs()).toEqual(['a']);
  });

  describe('with topics that sources share', () => {
    beforeEach(() => {
      world = new RunnerWorld(sharedTopics({ emitsAgeMs: 1, emitsBytes: 1 }, 1));
    });

    it('run each source in order, independently of the others', async () => {
      await world.source('dc_1', { props: [{ kind: 'db', prop: 'db' }] });
      await world.source('dc_2');
      for (const [source, id] of [
        ['dc_1', 'a'],
        ['dc_2', 'b'],
        ['dc_1', 'c'],
        ['dc_2', 'd'],
      ] as const) {
        await world.invoke(source, [id]);
      }
      const { sandboxes } = await world.process({ auto });
      await until(() => world.open('dc_1') === 0);
      expect(sandboxes.started.map(({ spec, started }) => [spec.sourceId, started])).toEqual([
        ['dc_1', ['a', 'c']],
        ['dc_2', ['b', 'd']],
      ]);
      expect(world.journal.laneOf('dc_1').progress).toEqual({ through: 2, above: [] });
      expect(world.journal.laneOf('dc_2').progress).toEqual({ through: 3, above: [] });
    });

    it('repeat only unfinished work after a crash, although the lane goes back to its first gap', async () => {
      await world.source('dc_1');
      await world.source('dc_2');
      const first = await world.process();
      await world.invoke('dc_1', ['a']);
      await world.invoke('dc_2', ['b', 'c']);
      await until(() => first.sandboxes.runs().length === 3);
      first.sandboxes.started.find(({ spec }) => spec.sourceId === 'dc_2')?.end('c');
      await until(() => world.journal.states.has('dc_2'));
      world.log.crash();
      const next = await world.process({ auto });
      await until(() => world.open('dc_1') === 0);
      expect([...next.sandboxes.runs()].sort()).toEqual(['a', 'b']);
    });
  });
});
