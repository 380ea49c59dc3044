import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MongoNetworkError, type Db } from 'mongodb';
import { eventually } from '../../conformance/eventually.js';
import { StateConflict } from '#libs/runner/run-journal.js';
import { STALE_MS } from './outbox-sweep.js';
import { commit, emit, OutboxWorld, stateAt } from '../testing/outbox-world.js';

/** Covers live owners: lost answers, two at once, and a log that cannot be reached. */

let world: OutboxWorld;
beforeEach(async () => {
  world = await OutboxWorld.open();
});
afterEach(() => world.close());

const LARGE = { limits: { inlineBytes: 1000 } };
/** 5 MB, so that there is more than one part. */
const large = [emit(1, 1_800_000), emit(2, 1_800_000), emit(3, 1_800_000)];

/** The database with one operation of a collection replaced. */
const intercepted = (
  collection: string,
  operation: string,
  intercept: (call: () => Promise<unknown>) => Promise<unknown>,
): Db =>
  new Proxy(world.db, {
    get: (db, method) => {
      if (method !== 'collection') return Reflect.get(db, method) as unknown;
      return (...args: Parameters<Db['collection']>) =>
        new Proxy(db.collection(...args), {
          get: (real, name) => {
            const value = Reflect.get(real, name) as unknown;
            if (typeof value !== 'function') return value;
            const isMeant = args[0] === collection && name === operation;
            return (...given: unknown[]): unknown => {
              const call = (): unknown => value.apply(real, given) as unknown;
              return isMeant ? intercept(call as () => Promise<unknown>) : call();
            };
          },
        });
    },
  });

/** The database with one call that fails once with a lost connection, after it was `done` or before. */
const failing = (collection: string, operation: string, done = false): Db => {
  let failed = false;
  return intercepted(collection, operation, async (call) => {
    if (failed) return call();
    failed = true;
    if (done) await call();
    throw new MongoNetworkError('connection closed');
  });
};

describe('an answer that is lost', () => {
  it.each([
    ['of a first write that was done', 'insertOne', true, 0],
    ['of a first write that was not done', 'insertOne', false, 0],
    ['of a later write that was done', 'updateOne', true, 1],
    ['of a later write that was not done', 'updateOne', false, 1],
  ])('%s is found out, and the commit is there once', async (_, operation, done, version) => {
    if (version === 1) await world.committed(0);
    const journal = world.journal({ limits: { idleMs: 60_000 } }, { db: failing('run_journal', operation, done) });
    await journal.commit(commit(version));
    expect(await journal.load({ executable: 'dc_1' })).toMatchObject(stateAt(version + 1));
    await journal.drained();
    expect((await world.emitted()).filter((id) => id === `e${version}`)).toEqual([`e${version}`]);
  });
});

describe('two owners', () => {
  it('commit each version once', async () => {
    const owners = Array.from({ length: 4 }, () => world.journal());
    for (let version = 0; version < 8; version++) {
      await Promise.all(owners.map((owner) => owner.load({ executable: 'dc_1' })));
      const results = await Promise.allSettled(
        owners.map((owner, n) => owner.commit(commit(version, { parts: { by: `${n}` } }))),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(StateConflict);
      }
      const winner = results.findIndex(({ status }) => status === 'fulfilled');
      expect((await owners[0]?.load({ executable: 'dc_1' }))?.parts).toEqual({ by: `${winner}` });
    }
  });

  it('the second finds what the first committed, also when it had loaded before', async () => {
    const [first, second] = [world.journal(), world.journal()];
    await first.load({ executable: 'dc_1' });
    await second.load({ executable: 'dc_1' });
    await first.commit(commit(0));
    expect(await second.load({ executable: 'dc_1' })).toMatchObject(stateAt(1));
    expect(await second.seen({ executable: 'dc_1' }, ['inv_0'])).toEqual(new Set(['inv_0']));
    await second.commit(commit(1));
    await expect(first.commit(commit(1))).rejects.toMatchObject({ expected: 1, actual: 2 });
    expect(await first.load({ executable: 'dc_1' })).toMatchObject(stateAt(2));
    await first.commit(commit(2));
    await Promise.all([first.drained(), second.drained()]);
    expect([...new Set(await world.emitted())]).toEqual(['e0', 'e1', 'e2']);
  });
});

describe('a log that cannot be written to', () => {
  it('is retried, and keeps the order', async () => {
    const warnings: string[] = [];
    const journal = world.journal({ onWarning: (message) => void warnings.push(message) });
    world.log.onNextPublish(() => {
      throw new Error('no broker');
    });
    for (let n = 0; n < 5; n++) await journal.commit(commit(n));
    await journal.drained();
    expect(await world.emitted()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4']);
    expect(warnings).toEqual(['emits of dc_1 cannot be published']);
  });

  it('makes commits wait once too much is unpublished, and only those of that source', async () => {
    let publish = (): void => undefined;
    const held = new Promise<void>((resolve) => (publish = resolve));
    const log = world.logThat(async (records) => {
      if (records.some(({ key }) => key === 'dc_1')) await held;
      return world.log.publish(records);
    });
    const journal = world.journal({ limits: { unpublishedBytes: 1500 } }, { log });
    await journal.commit(commit(0, { records: [emit(0, 1000)] }));
    await journal.commit(commit(1, { records: [emit(1, 1000)] }));
    let written = false;
    const third = journal.commit(commit(2)).then(() => (written = true));
    await journal.commit(commit(0, { executable: 'dc_2', records: [] }));
    await journal.load({ executable: 'dc_2' });
    expect(written).toBe(false);
    publish();
    await third;
    await journal.drained();
    expect(await world.emitted()).toEqual(['e0', 'e1', 'e2']);
  });
});

describe('the outbox', () => {
  it('is emptied by the next commit, or by itself when there is none', async () => {
    const journal = world.journal({ limits: { idleMs: 600_000 } });
    await journal.commit(commit(0));
    await journal.drained();
    expect(await world.outbox()).toEqual(['1']);
    await journal.commit(commit(1, { records: [] }));
    expect(await world.outbox()).toEqual([]);
    const idle = world.journal();
    await idle.load({ executable: 'dc_1' });
    await idle.commit(commit(2));
    await eventually('an empty outbox', async () => (await world.outbox()).length === 0);
    const marks = world.db.collection('run_journal').countDocuments({ outboxMark: { $gt: '' } });
    expect(await marks).toBe(0);
  });

  it('loses what was published while a commit was being written', async () => {
    let publish = (): void => undefined;
    const held = new Promise<void>((resolve) => (publish = resolve));
    const log = world.logThat(async (records) => {
      if (records.some(({ headers }) => headers['id'] === 'e1')) await held;
      return world.log.publish(records);
    });
    let writes = 0;
    const db = intercepted('run_journal', 'updateOne', async (call) => {
      if (++writes === 2) {
        publish();
        await eventually('e1 is in the log', async () => (await world.emitted()).includes('e1'));
      }
      return call();
    });
    const journal = world.journal({ limits: { idleMs: 600_000 } }, { db, log });
    for (let n = 0; n < 3; n++) await journal.commit(commit(n));
    await journal.drained();
    await journal.commit(commit(3, { records: [] }));
    expect([writes, await world.outbox()]).toEqual([3, []]);
  });

  it('of an active source is left alone by the sweep', async () => {
    const journal = world.journal({ limits: { idleMs: 600_000 } });
    await journal.commit(commit(0));
    await journal.drained();
    await journal.relayStale();
    world.time.now += STALE_MS;
    await journal.relayStale();
    expect(await world.emitted()).toEqual(['e0']);
  });

  it('has its parts removed later when that fails now, and the commit that cleared it still succeeds', async () => {
    const warnings: string[] = [];
    const db = failing('outbox_parts', 'deleteMany');
    const journal = world.journal(
      { limits: { inlineBytes: 1000, idleMs: 600_000 }, onWarning: (message) => void warnings.push(message) },
      { db },
    );
    await journal.commit(commit(0, { records: large }));
    await journal.drained();
    await journal.commit(commit(1, { records: [] }));
    expect(warnings).toEqual(['published emits of dc_1 are left to the sweep']);
    expect([await world.outbox(), await world.partCount()]).toEqual([[], 3]);
    await journal.relayStale();
    expect(await world.partCount()).toBe(0);
  });

  it('goes with its source, and so do its parts', async () => {
    const journal = world.journal(LARGE);
    world.log.onNextPublish(() => {
      throw new Error('no broker');
    });
    await journal.commit(commit(0, { records: large }));
    await journal.drop('dc_1');
    expect(await world.partCount()).toBe(0);
    expect((await journal.load({ executable: 'dc_1' })).version).toBe(0);
    await journal.commit(commit(0));
    await journal.drained();
    expect(await world.emitted()).toEqual(['e0']);
  });
});
