import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Long, MongoClient, type Document } from 'mongodb';
import { eventually } from '../conformance/eventually.js';
import { systemClock } from '#libs/kernel/clock.js';
import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { type ClaimedLane } from '#libs/stream-log/lane-writes.js';
import { type DueEntry } from '#libs/due/due-store.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import {
  REFUSALS,
  refusal,
  steppedDownWaiting,
  withoutMajority,
  type Refusal,
} from '#test/engines/mongo-faults/answers.js';
import { startMongoFaults, type MongoFaults, type Verdict } from '#test/engines/mongo-faults/proxy.js';
import { openMongo, type MongoEngines } from './index.js';
import { commit, emit, stateAt } from './testing/outbox-world.js';

/** Duration of an election after the death of a primary. */
const ELECTION_MS = 12_000;
const TOPIC = 'emits.dc_1';
const SCHEMA: CollectionSchema = { name: 'elected.v1', indexed: ['kind'], sort: 'id' };

interface Item extends Doc {
  readonly kind: string;
}

const item = (id: string): Item => ({ id, kind: 'k' });

const target = (): string => {
  const given = process.env['SLUICE_TEST_MONGO'];
  if (given === undefined) throw new Error('SLUICE_TEST_MONGO is not set: run npm run test:engines');
  return given;
};

let faults: MongoFaults;
let log: InMemoryStreamLog;
let database: string;
const opened: MongoEngines[] = [];
const warnings: string[] = [];

const open = async (leaseMs?: number): Promise<MongoEngines> => {
  const engines = await openMongo({
    url: faults.url(database),
    secretKey: Buffer.alloc(32, 7),
    clock: systemClock,
    cacheDir: '/nonexistent',
    onWarning: (text) => void warnings.push(text),
    ...(leaseMs === undefined ? {} : { leaseMs }),
  });
  opened.push(engines);
  return engines;
};

beforeEach(async () => {
  faults = await startMongoFaults(target());
  database = `sluice_test_elections_${process.pid}_${Math.random().toString(36).slice(2)}`;
  log = new InMemoryStreamLog();
  await log.createTopic(TOPIC, {});
});
afterEach(async () => {
  faults.rule = undefined;
  faults.endElection();
  await Promise.all(opened.splice(0).map((engines) => engines.close()));
  await faults.close();
  const client = new MongoClient(target());
  await client.db(database).dropDatabase();
  await client.close();
});

const emitted = async (): Promise<(string | undefined)[]> =>
  (await log.read(TOPIC, -1, 1_000)).map(({ headers }) => headers['id']);

const retry = (id: string): DueEntry => ({
  id,
  owner: 'wh_1',
  kind: 'delivery',
  dueAt: 1,
  record: emit(1),
});

/** Fails the first request of one kind and passes all others on. Counts the failed ones. */
const once = (matches: (command: Document, name: string) => boolean, verdict: Verdict): { met: number } => {
  const seen = { met: 0 };
  faults.rule = (command, name) => {
    if (seen.met > 0 || !matches(command, name)) return undefined;
    seen.met++;
    return verdict;
  };
  return seen;
};

const FAULTS: [string, Verdict][] = [
  ...(Object.keys(REFUSALS) as Refusal[]).map((name): [string, Verdict] => [name, { answer: refusal(name) }]),
  ['the end of the connection before the write', { close: true }],
  ['the end of the connection after the write', { after: () => undefined }],
  ['a write that is not on a majority yet', { after: withoutMajority }],
  ['a primary that steps down while a write waits for the majority', { after: steppedDownWaiting }],
];

describe('an election of 12 s', () => {
  it('is ridden out by every port: nothing fails, is lost, or is done twice', async () => {
    const engines = await open();
    const journal = await engines.openJournal(log);
    const { due, delayed, records, readModels, vault, ticks } = engines;
    await readModels.register(SCHEMA);
    await journal.commit(commit(0));
    await due.put([retry('gone'), retry('kept')]);
    const owner = { storeId: 'ds_1', workspaceId: 'o_1', key: 'n' };
    await records.incr(owner, 1, 1);

    faults.beginElection();
    const during = Promise.all([
      journal.commit(commit(1)),
      journal.commit(commit(2)),
      due.put([retry('new')]),
      due.remove(['gone']),
      delayed.removeRange('dc_1', {}),
      records.incr(owner, 1, 1),
      records.set({ ...owner, key: 'set', value: '1', expiresAt: null }, 1),
      ticks.save(new Map([['dc_1/timer', 5]])),
      vault.put('ref', 'o_1', 'secret'),
      readModels.apply({
        schema: SCHEMA,
        generation: 1,
        expected: null,
        next: '1',
        writes: [{ op: 'put', doc: item('a') }],
      }),
      readModels.page(SCHEMA, { where: {}, limit: 10 }),
    ]);
    await sleep(ELECTION_MS);
    faults.endElection();
    await during;

    expect(await journal.load({ executable: 'dc_1' })).toMatchObject(stateAt(3));
    await eventually('the emits in the log', async () => (await emitted()).length >= 3);
    expect(await emitted()).toEqual(['e0', 'e1', 'e2']);
    expect((await due.dueBy(10, 10)).map(({ id }) => id)).toEqual(['kept', 'new']);
    expect(await records.incr(owner, 1, 1)).toBe(3);
    expect(await ticks.load()).toEqual(new Map([['dc_1/timer', 5]]));
    expect(await vault.get('ref', 'o_1')).toBe('secret');
    expect(await readModels.get(SCHEMA, 'a')).toEqual({ id: 'a', kind: 'k' });
  }, 120_000);
});

describe.each(FAULTS)('a write that meets %s', (_name, verdict) => {
  it('of the run journal is made once', async () => {
    const journal = await (await open()).openJournal(log);
    await journal.commit(commit(0));
    const seen = once(({ update }, name) => name === 'update' && update === 'run_journal', verdict);
    await Promise.all([1, 2, 3].map((n) => journal.commit(commit(n, { parts: { n: `${n}`, 'a.b': `${n}` } }))));
    expect(seen.met).toBe(1);
    expect(await journal.load({ executable: 'dc_1' })).toMatchObject(stateAt(4));
    await eventually('the emits in the log', async () => (await emitted()).length >= 4);
    expect(await emitted()).toEqual(['e0', 'e1', 'e2', 'e3']);
  });

  it('of a data store, of the due store and of a read model is made once', async () => {
    const { records, due, readModels } = await open();
    await readModels.register(SCHEMA);
    const owner = { storeId: 'ds_1', workspaceId: 'o_1', key: 'n' };
    await records.incr(owner, 1, 1);
    const value = { ...owner, key: 'set', value: '1', expiresAt: null };

    expect(once((_, name) => name === 'update', verdict)).toEqual({ met: 0 });
    await records.set(value, 1);
    expect(await records.get('ds_1', 'set', 1)).toMatchObject({ value: '1' });

    const put = once(({ update }) => update === 'due', verdict);
    await due.put([retry('a'), retry('b')]);
    const removal = once(({ delete: from }) => from === 'due', verdict);
    await due.remove(['a']);
    expect([put.met, removal.met]).toEqual([1, 1]);
    expect((await due.dueBy(10, 10)).map(({ id }) => id)).toEqual(['b']);

    const batch = (n: number) =>
      readModels.apply({
        schema: SCHEMA,
        generation: 1,
        expected: n === 1 ? null : `${n - 1}`,
        next: `${n}`,
        writes: [{ op: 'put', doc: item(`d${n}`) }],
      });
    await batch(1);
    const model = once(({ update }) => String(update).startsWith('read.elected'), verdict);
    // Like a projector, this reads the checkpoint and applies what is missing.
    for (let n = 2; n !== 4; n = Number((await readModels.checkpoints([SCHEMA]))[0]) + 1)
      await batch(n).catch(() => undefined);
    expect(model.met).toBe(1);
    expect((await readModels.page(SCHEMA, { where: {}, limit: 10 })).docs.map(({ id }) => id)).toEqual([
      'd3',
      'd2',
      'd1',
    ]);
  });

  it('of a lane of a read model is made once', async () => {
    const { readModels, lanes } = await open();
    await readModels.register(SCHEMA);
    const offsetOf = (at: number): string => String(at).padStart(3, '0');
    const lane = async (): Promise<ClaimedLane<Doc>> => {
      const [claimed] = await lanes.claimLanes<Doc>(SCHEMA, 1, ['lane']);
      if (!claimed) throw new Error('the lane was not claimed');
      return claimed;
    };
    const apply = ({ id, claim }: ClaimedLane<Doc>, n: number): Promise<void> =>
      lanes.applyLanes({
        schema: SCHEMA,
        generation: 1,
        parts: [
          {
            id,
            claim,
            progress: { id, kind: 'lane', offset: offsetOf(n) } as Doc,
            writes: [{ op: 'put', doc: item(`d${n}`) }],
          },
        ],
        trims: [],
      });
    await apply(await lane(), 1);
    for (const nth of [1, 2, 3]) {
      let met = 0;
      const seen = once(({ update }) => String(update).startsWith('read.elected') && ++met === nth, verdict);
      // Like a projector, this claims the lane and applies what its progress lacks.
      for (;;) {
        const claimed = await lane().catch(() => undefined);
        if ((claimed?.progress as { offset?: string } | undefined)?.offset === offsetOf(nth + 1)) break;
        if (claimed) await apply(claimed, nth + 1).catch(() => undefined);
      }
      expect(seen.met).toBe(1);
    }
    const { docs } = await readModels.page(SCHEMA, { where: { kind: 'k' }, limit: 10 });
    expect(docs.map(({ id }) => id)).toEqual(['d4', 'd3', 'd2', 'd1']);
  });
});

describe('a lease', () => {
  const LEASE_MS = 3_000;

  it('stays with its owner through single refusals and while every other connection is busy', async () => {
    const engines = await open(LEASE_MS);
    const lease = await engines.leases.acquire('work', new AbortController().signal);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let beats = 0;
    faults.rule = async (command, name) => {
      if (name === 'find' && command['find'] === 'due') {
        await released;
        return { answer: { ok: 1, cursor: { id: Long.ZERO, ns: `${database}.due`, firstBatch: [] } } };
      }
      const isBeat = name === 'update' && command['update'] === 'leases';
      return isBeat && ++beats % 2 === 1 ? { answer: refusal('NotWritablePrimary') } : { after: (answer) => answer };
    };
    const busy = Promise.all(Array.from({ length: 120 }, () => engines.due.dueBy(1, 1)));
    await eventually('beats for longer than the time to live', () => beats >= 8);
    expect(lease?.lost.aborted).toBe(false);
    release();
    await busy;
  }, 60_000);

  it('is lost in an election that is longer than its time, is never held twice, and is held again after it', async () => {
    const [one, two] = [await open(LEASE_MS), await open(LEASE_MS)];
    const stop = new AbortController();
    const first = await one.leases.acquire('work', stop.signal);
    let held = 1;
    let most = 1;
    first?.lost.addEventListener('abort', () => held--);
    const next = two.leases.acquire('work', stop.signal).then((lease) => {
      most = Math.max(most, ++held);
      return lease;
    });
    faults.beginElection('InterruptedDueToReplStateChange');
    await eventually('the loss', () => first?.lost.aborted === true);
    faults.endElection();
    const second = await next;
    expect(second?.token).toBeGreaterThan(first?.token ?? Infinity);
    expect([most, second?.lost.aborted]).toEqual([1, false]);
  }, 60_000);
});
