import { afterEach, describe, expect, it } from '@jest/globals';
import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { type LaneWrites } from './lane-writes.js';
import { StreamProjector } from './stream-projector.js';
import { type StreamProjection } from './stream-projection.js';
import { ClaimedLanes } from './testing/claimed-lanes.js';
import { drained } from './testing/drained.js';
import { InMemoryStreamLog } from './testing/in-memory-stream-log.js';

/** Several processes that keep one read model (docs/adr/0048). */

interface Line extends Doc {
  readonly list: string;
  readonly all: string;
  readonly sort: string;
}

/** Interprets `put <sort>` and `remove <from> <to>`. */
const lines: StreamProjection<Line> = {
  name: 'specs.shared.v1',
  prefix: 'lines.',
  schema: { name: 'specs.shared.v1', indexed: ['list', 'all'], sort: 'sort' },
  keep: { by: 'list', newest: 1_000 },
  interpret({ key, value }) {
    const [verb, first = '', second = ''] = value.split(' ');
    if (verb === 'remove') return { kind: 'remove', where: { list: key }, from: first, to: second };
    return { kind: 'put', docs: [{ id: `${key}/${first}`, list: key, all: 'all', sort: first }] };
  },
  ofKey: (key) => [{ list: key }],
};

const put = (key: string, ...sorts: string[]) => sorts.map((sort) => record(key, `put ${sort}`));
const record = (key: string, value: string, topic = `lines.${key}`) => ({ topic, key, headers: {}, value });

class World {
  readonly log = new InMemoryStreamLog();
  readonly readModels = new InMemoryReadModels();
  readonly lanes = new ClaimedLanes(this.readModels);
  readonly failures: Error[] = [];
  private readonly running: StreamProjector[] = [];

  /** The projector of a process. `own` replaces some of its writes. */
  process(own: Partial<LaneWrites> = {}, readModels = this.readModels): StreamProjector {
    const { log } = this;
    const lanes: LaneWrites = {
      claimLanes: (...args) => this.lanes.claimLanes(...args),
      applyLanes: (batch) => this.lanes.applyLanes(batch),
      ...own,
    };
    const onFailure = (error: Error): void => void this.failures.push(error);
    const projector = new StreamProjector({ projection: lines, log, readModels, lanes, gatherMs: 1, onFailure });
    this.running.push(projector);
    return projector;
  }

  async started(own?: Partial<LaneWrites>): Promise<StreamProjector> {
    const projector = this.process(own);
    await projector.start();
    return projector;
  }

  async topics(...names: string[]): Promise<void> {
    for (const name of names) await this.log.createTopic(`lines.${name}`);
  }

  async shown(list: string): Promise<string[]> {
    const { docs } = await this.readModels.page<Line>(lines.schema, { where: { list }, limit: 1_000 });
    return docs.map(({ sort }) => sort);
  }

  /** Resolves once the group has committed all records. */
  async done(): Promise<void> {
    for (;;) {
      const lag = await this.log.lag(`projector.${lines.name}`, { prefix: lines.prefix });
      if (Object.values(lag).every((records) => records === 0)) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.running.splice(0).map((projector) => projector.stop()));
  }
}

let world = new World();
afterEach(async () => {
  await world.close();
  expect(world.failures).toEqual([]);
  world = new World();
});

const NAMES = ['a', 'b', 'c', 'd'];
const ROUNDS = 40;
const numbered = (n: number): string => String(n).padStart(3, '0');

describe('processes of one read model', () => {
  it('share its lanes, release and claim them, and leave what a rebuild makes', async () => {
    await world.topics(...NAMES);
    const applied = new Set<string>();
    const telling = (name: string): Partial<LaneWrites> => ({
      applyLanes: async (batch) => {
        await world.lanes.applyLanes(batch);
        applied.add(name);
      },
    });
    const publish = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++) {
        for (const name of NAMES) await world.log.publish(put(name, numbered(n)));
        if (n % 10 === 9) for (const name of NAMES) await world.log.publish([record(name, `remove ${numbered(n)} ~`)]);
      }
    };
    await world.started(telling('first'));
    await publish(0, 10);
    await world.done();
    const second = await world.started(telling('second'));
    await publish(10, 20);
    await world.done();
    const third = await world.started(telling('third'));
    await publish(20, 25);
    await world.done();
    await publish(25, 30);
    await second.stop();
    await publish(30, ROUNDS);
    await third.stop();
    await world.done();
    expect([...applied].sort()).toEqual(['first', 'second', 'third']);
    const all = await Promise.all(NAMES.map((name) => world.shown(name)));
    const expected = Array.from({ length: ROUNDS }, (_, n) => n).filter((n) => n % 10 !== 9);
    for (const shown of all) expect(shown).toEqual(expected.map(numbered).reverse());
    await world.process().rebuild();
    expect(await Promise.all(NAMES.map((name) => world.shown(name)))).toEqual(all);
  });

  it('claim a lane back that another process claimed, and go on', async () => {
    await world.topics('a');
    const projector = await world.started();
    await world.log.publish(put('a', '1'));
    await projector.waitApplied('lines.a', 0, 5_000);
    await world.lanes.claimLanes(lines.schema, 1, ['#lane/lines.a']);
    await world.log.publish(put('a', '2'));
    expect(await projector.waitApplied('lines.a', 1, 5_000)).toBe(true);
    expect(await world.shown('a')).toEqual(['2', '1']);
  });

  it('claim a lane only after a write of its previous owner has ended', async () => {
    await world.topics('a', 'b');
    let [inHand, goOn] = [(): void => undefined, (): void => undefined];
    const reached = new Promise<void>((resolve) => (inHand = resolve));
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const lost: unknown[] = [];
    await world.started({
      applyLanes: async (batch) => {
        inHand();
        await gate;
        await world.lanes.applyLanes(batch).catch((error: unknown) => {
          lost.push(error);
          throw error;
        });
      },
    });
    await world.log.publish([...put('a', '1'), ...put('b', '1')]);
    await reached;
    await world.started();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    goOn();
    await world.log.publish([...put('a', '2'), ...put('b', '2')]);
    await world.done();
    expect(lost).toEqual([]);
    expect([await world.shown('a'), await world.shown('b')]).toEqual([
      ['2', '1'],
      ['2', '1'],
    ]);
  });

  it('lose and repeat nothing when one dies between its documents and its acknowledgement', async () => {
    await world.topics('a', 'b');
    let died = false;
    const dying = await world.started({
      applyLanes: async (batch) => {
        if (!died) await world.lanes.applyLanes(batch);
        died = true;
        throw new Error('died');
      },
    });
    await world.log.publish([...put('a', '1', '2'), record('a', 'remove 1 1'), ...put('b', '1')]);
    while (!died) await new Promise((resolve) => setImmediate(resolve));
    const states: string[][] = [];
    await world.started({
      applyLanes: async (batch) => {
        await world.lanes.applyLanes(batch);
        states.push(await world.shown('a'));
      },
    });
    await dying.stop();
    await world.log.publish(put('a', '3'));
    await world.done();
    expect(await world.shown('a')).toEqual(['3', '2']);
    expect(await world.shown('b')).toEqual(['1']);
    // A removed document never reappears.
    for (const state of states) expect(state).not.toContain('1');
  });
});

describe('a key that one process forgets', () => {
  it.each([
    ['with its topic', ['lines.a']],
    ['whose topic others share', []],
  ])('%s: no record in the hands of another process brings its documents back', async (_, topics) => {
    await world.topics('a');
    let [inHand, goOn] = [(): void => undefined, (): void => undefined];
    const reached = new Promise<void>((resolve) => (inHand = resolve));
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    let batches = 0;
    const member = await world.started({
      applyLanes: async (batch) => {
        if (++batches === 2) {
          inHand();
          await gate;
        }
        await world.lanes.applyLanes(batch);
      },
    });
    await world.log.publish([record('a', 'put 1', 'lines.a'), record('other', 'put 1', 'lines.a')]);
    await member.waitApplied('lines.a', 1, 5_000);
    await world.log.publish([record('a', 'put 2', 'lines.a'), record('other', 'put 2', 'lines.a')]);
    await reached;
    await world.process().forget('a', topics);
    goOn();
    await world.log.publish([record('a', 'put 3', 'lines.a'), record('other', 'put 3', 'lines.a')]);
    await world.done();
    expect(await world.shown('a')).toEqual([]);
    expect(await world.shown('other')).toEqual(['3', '2', '1']);
  });

  it('stays forgotten after a restart and after a rebuild', async () => {
    await world.topics('a');
    await world.log.publish([record('a', 'put 1', 'lines.a'), record('other', 'put 1', 'lines.a')]);
    await world.process().forget('a', []);
    await drained(await world.started());
    expect(await world.shown('a')).toEqual([]);
    await world.process().rebuild();
    expect([await world.shown('a'), await world.shown('other')]).toEqual([[], ['1']]);
  });
});

describe('a rebuild in one process while another one writes', () => {
  /** Publishes, and waits until the other process has applied the records to the generation that is still active. */
  const lateRecords = async (): Promise<void> => {
    await world.log.publish([...put('a', '2'), record('b', 'remove 1 1')]);
    await world.done();
  };

  /** A process that rebuilds the read model of another one. Records arrive right before its switch. */
  const rebuilderOf = async (afterSwitch: () => void = () => undefined) => {
    await world.topics('a', 'b');
    await world.log.publish([...put('a', '1'), ...put('b', '1')]);
    await world.started();
    await world.done();
    const readModels = Object.assign(Object.create(world.readModels) as InMemoryReadModels, {
      activateGeneration: async (schema: CollectionSchema, generation: number) => {
        await lateRecords();
        await world.readModels.activateGeneration(schema, generation);
        afterSwitch();
      },
    });
    return world.process({}, readModels);
  };

  it('misses nothing that is applied to the former generation until the switch', async () => {
    const rebuilder = await rebuilderOf();
    await rebuilder.rebuild();
    // No record has arrived on these lanes since, and they are complete.
    expect([await world.shown('a'), await world.shown('b')]).toEqual([['2', '1'], []]);
    expect((await world.readModels.register(lines.schema)).active).toBe(2);
    await world.log.publish(put('b', '3'));
    await world.done();
    expect(await world.shown('b')).toEqual(['3']);
  });

  it('that dies right after the switch leaves a gap that the next record of the lane closes', async () => {
    const rebuilder = await rebuilderOf(() => {
      throw new Error('died');
    });
    await expect(rebuilder.rebuild()).rejects.toThrow('died');
    await world.log.publish([...put('a', '3'), ...put('b', '3')]);
    await world.done();
    expect([await world.shown('a'), await world.shown('b')]).toEqual([['3', '2', '1'], ['3']]);
  });
});
