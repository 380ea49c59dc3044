import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MongoServerError, type Db } from 'mongodb';
import { eventually } from '../../conformance/eventually.js';
import { CommitTooLarge } from '#libs/runner/run-journal.js';
import { STALE_MS } from './outbox-sweep.js';
import { MongoRunJournal } from './run-journal.js';
import { type Crash } from '../testing/crashing.js';
import { commit, emit, OutboxWorld, stateAt } from '../testing/outbox-world.js';
import { steppedDb } from '../testing/stepped-db.js';

/** Covers what a process that dies leaves behind, and how the next one continues (docs/adr/0002, docs/adr/0011). */

let world: OutboxWorld;
beforeEach(async () => {
  world = await OutboxWorld.open();
});
afterEach(() => world.close());

const LARGE = { limits: { inlineBytes: 1000 } };
/** 5 MB, so that there is more than one part. */
const large = [emit(1, 1_800_000), emit(2, 1_800_000), emit(3, 1_800_000)];

describe('a process that dies', () => {
  it('before the write leaves nothing of the commit', async () => {
    await world.committed(0);
    const { journal, process } = world.dying((name) => (name === 'run_journal.updateOne' ? 'before' : undefined));
    void journal.commit(commit(1));
    await eventually('the crash', () => process.isDead());
    const next = world.journal();
    expect(await next.load({ executable: 'dc_1' })).toMatchObject(stateAt(1));
    expect(await next.seen({ executable: 'dc_1' }, ['inv_0', 'inv_1'])).toEqual(new Set(['inv_0']));
    await next.commit(commit(1));
    await next.drained();
    expect(await world.emitted()).toEqual(['e0', 'e1']);
  });

  it('before the first write of a source leaves nothing', async () => {
    const { journal, process } = world.dying((name) => (name === 'run_journal.insertOne' ? 'before' : undefined));
    void journal.commit(commit(0));
    await eventually('the crash', () => process.isDead());
    expect((await world.journal().load({ executable: 'dc_1' })).version).toBe(0);
    expect(await world.emitted()).toEqual([]);
  });

  it.each<[string, string, Crash]>([
    ['after the write, before it publishes', 'run_journal.insertOne', 'after'],
    ['on its way to publish', 'log.publish', 'before'],
  ])('%s leaves its emits to the next owner', async (_, name, crash) => {
    const { journal, process } = world.dying((step) => (step === name ? crash : undefined));
    void journal.commit(commit(0));
    await eventually('the crash', () => process.isDead());
    await eventually('the write', async () => (await world.outbox()).length === 1);
    expect(await world.emitted()).toEqual([]);
    const next = world.journal();
    expect(await next.load({ executable: 'dc_1' })).toMatchObject(stateAt(1));
    expect(await world.emitted()).toEqual(['e0']);
    expect(await next.seen({ executable: 'dc_1' }, ['inv_0'])).toEqual(new Set(['inv_0']));
    await next.commit(commit(1));
    await next.drained();
    expect(await world.emitted()).toEqual(['e0', 'e1']);
    await eventually('an empty outbox', async () => (await world.outbox()).length === 0);
  });

  it('after it published, before it cleared the outbox, has its emits repeated under their ids', async () => {
    const { journal, process } = world.dying((name) => (name === 'log.publish' ? 'after' : undefined));
    await journal.commit(commit(0, { records: [emit(0), emit(1)] }));
    await eventually('the crash', () => process.isDead());
    await eventually('the publish', async () => (await world.emitted()).length === 2);
    await world.journal().load({ executable: 'dc_1' });
    expect(await world.emitted()).toEqual(['e0', 'e1', 'e0', 'e1']);
  });

  it('with several commits in the outbox leaves them in their order', async () => {
    const hanging = world.logThat(() => new Promise(() => undefined));
    const dead = new MongoRunJournal(world.db, hanging, world.clock);
    for (let n = 0; n < 12; n++) await dead.commit(commit(n));
    await world.journal().load({ executable: 'dc_1' });
    expect(await world.emitted()).toEqual(Array.from({ length: 12 }, (_, n) => `e${n}`));
  });

  it('in the middle of overflow parts leaves nothing of the commit, and the parts are swept once that is certain', async () => {
    await world.committed(0);
    const { journal, process } = world.dying(
      (name, nth) => (name === 'outbox_parts.insertOne' && nth === 1 ? 'after' : undefined),
      LARGE,
    );
    void journal.commit(commit(1, { records: large }));
    await eventually('the crash', () => process.isDead());
    await eventually('two parts', async () => (await world.partCount()) === 2);
    const next = world.journal();
    expect(await next.load({ executable: 'dc_1' })).toMatchObject(stateAt(1));
    await next.relayStale();
    // A slow process may still be about to write version 2.
    expect(await world.partCount()).toBe(2);
    await next.commit(commit(1));
    await next.relayStale();
    expect(await world.partCount()).toBe(0);
    await next.drained();
    expect(await world.emitted()).toEqual(['e0', 'e1']);
  });

  it('between the parts and the write that refers to them leaves nothing of the commit', async () => {
    const { journal, process } = world.dying(
      (name) => (name === 'run_journal.insertOne' ? 'before' : undefined),
      LARGE,
    );
    void journal.commit(commit(0, { records: large }));
    await eventually('the crash', () => process.isDead());
    expect(await world.partCount()).toBe(3);
    const next = world.journal();
    expect((await next.load({ executable: 'dc_1' })).version).toBe(0);
    await next.commit(commit(0));
    await next.relayStale();
    expect(await world.partCount()).toBe(0);
  });

  it('after a write that refers to parts has them published by the next owner, and removed', async () => {
    const { journal, process } = world.dying((name) => (name === 'log.publish' ? 'before' : undefined), LARGE);
    await journal.commit(commit(0, { records: large }));
    await eventually('the crash', () => process.isDead());
    const next = world.journal(LARGE);
    await next.relayStale();
    expect(await world.partCount()).toBe(3);
    await next.load({ executable: 'dc_1' });
    expect(await world.emitted()).toEqual(['e1', 'e2', 'e3']);
    await eventually('no parts', async () => (await world.partCount()) === 0);
    expect(await world.outbox()).toEqual([]);
  });

  it('after it cleared the outbox, before it removed the parts, has them swept', async () => {
    const { journal, process } = world.dying(
      (name) => (name === 'outbox_parts.deleteMany' ? 'before' : undefined),
      LARGE,
    );
    await journal.commit(commit(0, { records: large }));
    await eventually('the crash', () => process.isDead());
    expect(await world.outbox()).toEqual([]);
    expect(await world.partCount()).toBe(3);
    await world.journal().relayStale();
    expect(await world.partCount()).toBe(0);
    expect(await world.emitted()).toEqual(['e1', 'e2', 'e3']);
  });

  it('and whose source stays idle has its emits published by the sweep of another process', async () => {
    const { journal, process } = world.dying((name) => (name === 'log.publish' ? 'before' : undefined));
    await journal.commit(commit(0));
    await eventually('the crash', () => process.isDead());
    const others = [world.journal(), world.journal()];
    for (const other of others) await other.relayStale();
    world.time.now += STALE_MS - 1;
    for (const other of others) await other.relayStale();
    expect(await world.emitted()).toEqual([]);
    world.time.now += 1;
    for (const other of others) await other.relayStale();
    expect(await world.emitted()).toEqual(['e0']);
    await eventually('an empty outbox', async () => (await world.outbox()).length === 0);
  });
});

describe('a sweep that dies', () => {
  it('after it claimed an outbox leaves it to the next sweep', async () => {
    const { journal, process } = world.dying((name) => (name === 'log.publish' ? 'before' : undefined));
    await journal.commit(commit(0));
    await eventually('the crash', () => process.isDead());
    const sweep = world.dying((name) => (name === 'log.publish' ? 'before' : undefined));
    await sweep.journal.relayStale();
    world.time.now += STALE_MS;
    void sweep.journal.relayStale();
    await eventually('the second crash', () => sweep.process.isDead());
    const third = world.journal();
    await third.relayStale();
    expect(await world.emitted()).toEqual([]);
    world.time.now += STALE_MS;
    await third.relayStale();
    expect(await world.emitted()).toEqual(['e0']);
  });
});

describe('a drop that dies', () => {
  it('in the middle is completed when it is repeated', async () => {
    const { journal, process } = world.dying((name) => {
      if (name === 'log.publish') return 'before';
      return undefined;
    }, LARGE);
    await journal.commit(commit(0, { records: large }));
    await eventually('the crash', () => process.isDead());
    const dropping = world.dying((name) => (name === 'run_journal.deleteOne' ? 'before' : undefined));
    void dropping.journal.drop('dc_1');
    await eventually('the second crash', () => dropping.process.isDead());
    expect(await world.partCount()).toBe(0);
    const next = world.journal();
    expect((await next.load({ executable: 'dc_1' })).version).toBe(1);
    await next.drop('dc_1');
    expect((await next.load({ executable: 'dc_1' })).version).toBe(0);
  });
});

describe('a commit that the server refuses for its size', () => {
  /** The driver's text for the answer of a server to an update whose result has more than 16 MiB. */
  const tooLarge = (code: number): MongoServerError =>
    new MongoServerError({ code, message: 'Resulting document after update is larger than 16777216' });
  const refusing = (refuses: (nth: number) => Error | undefined): Db => {
    let writes = 0;
    return steppedDb(world.db, (step, act) => {
      const error = step === 'run_journal.updateOne' ? refuses(writes++) : undefined;
      return error ? Promise.reject(error) : act();
    });
  };

  it.each([10_334, 17_419, 2])('with code %i ends at once, and the next commit passes', async (code) => {
    await world.committed(0);
    const journal = world.journal({}, { db: refusing((nth) => (nth < 2 ? tooLarge(code) : undefined)) });
    await expect(journal.commit(commit(1))).rejects.toThrow(CommitTooLarge);
    expect(await journal.load({ executable: 'dc_1' })).toMatchObject(stateAt(1));
    await journal.commit(commit(1));
    await journal.drained();
    expect(await world.emitted()).toEqual(['e0', 'e1']);
    await journal.relayStale();
    expect(await world.partCount()).toBe(0);
  });

  it('because of what else waits in the outbox is made once that is in the log', async () => {
    await world.committed(0);
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const log = world.logThat(async (records) => {
      await opened;
      return world.log.publish(records);
    });
    const journal = world.journal({}, { log, db: refusing((nth) => (nth === 1 ? tooLarge(17_419) : undefined)) });
    await journal.load({ executable: 'dc_1' });
    await journal.commit(commit(1));
    const next = journal.commit(commit(2));
    open();
    await next;
    expect(await journal.load({ executable: 'dc_1' })).toMatchObject(stateAt(3));
    await journal.drained();
    expect(await world.emitted()).toEqual(['e0', 'e1', 'e2']);
  });

  it('before it is sent, because names grow in the document, is not taken for a lost answer', async () => {
    await world.committed(0);
    const journal = world.journal();
    const keys = Array.from({ length: 4_000 }, (_, n) => [`${n}`.padEnd(1_000, '.'), null]);
    const removing = commit(1, { parts: Object.fromEntries(keys) as Record<string, null> });
    await expect(journal.commit(removing)).rejects.toThrow(/a command at most/);
    expect(await journal.load({ executable: 'dc_1' })).toMatchObject(stateAt(1));
  });
});
