import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Db } from 'mongodb';
import { type Lease } from '#libs/kernel/leases.js';
import { SILENCE_MS } from '#libs/kernel/process-registry.js';
import { MongoLeases } from './leases.js';
import { MongoProcessRegistry } from './process-registry.js';
import { type Around, steppedDb } from '../testing/stepped-db.js';
import { openTestDatabase } from '../testing/test-database.js';
import { VirtualTime } from '../testing/virtual-time.js';

const TTL = 6_000;
const never = new AbortController().signal;

let db: Db;
let drop: () => Promise<void>;
let time: VirtualTime;
const warnings: string[] = [];
const leasesOf = (around?: Around): MongoLeases =>
  new MongoLeases(time.db(db, around), {
    ttlMs: TTL,
    time: time.process(),
    onWarning: (text) => warnings.push(text),
  });

beforeEach(async () => {
  time = new VirtualTime();
  warnings.length = 0;
  ({ db, drop } = await openTestDatabase());
});
afterEach(() => drop());

describe('a lease', () => {
  it('is lost after two thirds of its time without renewal, before another owner may have it', async () => {
    let cut = false;
    const owner = leasesOf((_step, act) => (cut ? Promise.reject(new Error('unreachable')) : act()));
    const lease = await owner.acquire('work', never);
    await time.pass(TTL);
    expect(lease?.lost.aborted).toBe(false);
    cut = true;
    const order: string[] = [];
    lease?.lost.addEventListener('abort', () => order.push('lost'));
    const next = leasesOf();
    const acquired = next.acquire('work', never).then(() => order.push('acquired'));
    await time.pass(3 * TTL);
    await acquired;
    expect(order).toEqual(['lost', 'acquired']);
    expect(warnings).toContain('could not renew leases');
    await lease?.release();
    await next.close();
  });

  it('costs one request a beat with all others of its process, and waiting for several one request a look', async () => {
    const steps: string[] = [];
    const counting = (process: string): MongoLeases =>
      leasesOf((step, act) => {
        steps.push(`${process} ${step}`);
        return act();
      });
    const names = Array.from({ length: 20 }, (_, n) => `work ${n}`);
    const [owner, waiting] = [counting('owner'), counting('waiting')];
    const leases = await Promise.all(names.map((name) => owner.acquire(name, never)));
    const asked = names.map((name) => waiting.acquire(name, never));
    await time.pass(0);
    steps.length = 0;
    await time.pass(2 * TTL);
    const count = (step: string): number => steps.filter((each) => each === step).length;
    expect(count('owner leases.updateMany')).toBe(6);
    expect(count('waiting leases.find')).toBeGreaterThanOrEqual(6);
    expect(count('waiting leases.find')).toBeLessThanOrEqual(11);
    expect(steps).toHaveLength(count('owner leases.updateMany') + count('waiting leases.find'));
    expect(leases.map((lease) => lease?.lost.aborted)).toEqual(names.map(() => false));
    await waiting.close();
    expect(await Promise.all(asked)).toEqual(names.map(() => undefined));
    await owner.close();
  });

  it('is lost alone when another process has it, and the others of its process go on', async () => {
    const process = leasesOf();
    const [one, other] = [await process.acquire('one', never), await process.acquire('other', never)];
    await db.collection('leases').updateOne({ token: 1 }, { $set: { owner: 'another' }, $inc: { token: 1, beat: 1 } });
    await time.pass(3 * TTL);
    const taken = await db.collection('leases').findOne({ owner: 'another' });
    expect([one, other].map((lease) => lease?.lost.aborted === (lease?.name === String(taken?._id)))).toEqual([
      true,
      true,
    ]);
    await process.close();
  });

  describe('on a slow server', () => {
    /** Leases of one process whose requests have this latency. */
    const slowly = (latency: (step: string) => number): MongoLeases => {
      const line = time.process();
      const delayed = steppedDb(time.db(db), async (step, act) => {
        const answer = await act();
        const ms = latency(step);
        if (ms > 0) await line.sleep(ms, never);
        return answer;
      });
      return new MongoLeases(delayed, {
        ttlMs: TTL,
        time: time.process(),
        onWarning: (text) => warnings.push(text),
      });
    };
    const acquiredIn = async (asked: Promise<Lease | undefined>, ms: number): Promise<Lease> => {
      await time.pass(ms);
      const lease = await asked;
      if (!lease) throw new Error('not acquired');
      return lease;
    };

    it('is renewed in time while a renewal takes a quarter of its time to live', async () => {
      const process = slowly((step) => (step === 'leases.updateMany' ? TTL / 4 : 0));
      const lease = await acquiredIn(process.acquire('work', never), 0);
      await time.pass(10 * TTL);
      expect([lease.lost.aborted, warnings]).toEqual([false, []]);
      await process.close();
    });

    it('ends at its own time when it is nearly over, and the others of its process go on', async () => {
      let claims = 0;
      // The second claim lasts half of the time to live, so its lease is nearly over when the process receives it.
      const process = slowly((step) => {
        if (step === 'leases.updateMany') return TTL / 4;
        return step === 'leases.insertOne' && ++claims === 2 ? TTL / 2 : 0;
      });
      const first = await acquiredIn(process.acquire('first', never), 0);
      const short = await acquiredIn(process.acquire('short', never), TTL / 2);
      expect([first, short].map(({ lost }) => lost.aborted)).toEqual([false, false]);
      // Its end passes while the renewal of both is in flight.
      await time.pass(TTL / 6);
      expect([first, short].map(({ lost }) => lost.aborted)).toEqual([false, true]);
      await short.release();
      await time.pass(10 * TTL);
      expect([first.lost.aborted, warnings]).toEqual([false, []]);
      await process.close();
    });

    it('is not given out when the request for it took longer than it lasts', async () => {
      let claims = 0;
      const process = slowly((step) => (step === 'leases.insertOne' && ++claims === 1 ? TTL : 0));
      const asked = process.acquire('work', never);
      await time.pass(2 * TTL);
      const lease = await asked;
      expect([lease?.lost.aborted, lease?.token]).toEqual([false, 2]);
      await process.close();
    });
  });

  it('outlives a renewal that failed once', async () => {
    let failures = 0;
    const owner = leasesOf((step, act) =>
      step === 'leases.updateMany' && ++failures % 2 === 1 ? Promise.reject(new Error('unreachable')) : act(),
    );
    const lease = await owner.acquire('work', never);
    await time.pass(3 * TTL);
    expect(failures).toBeGreaterThan(4);
    expect(lease?.lost.aborted).toBe(false);
    await owner.close();
  });

  it('is lost at the next renewal when another process has it', async () => {
    const lease = await leasesOf().acquire('work', never);
    await db.collection('leases').updateOne({}, { $set: { owner: 'another' }, $inc: { token: 1, beat: 1 } });
    await time.pass(TTL / 2);
    expect(lease?.lost.aborted).toBe(true);
    await lease?.release();
    expect(await db.collection('leases').findOne({})).toMatchObject({ owner: 'another', token: 2 });
  });

  it('is this process’s when the request arrived and only its answer was lost', async () => {
    let lost = 0;
    const process = leasesOf(async (step, act) => {
      const answer = await act();
      if (step === 'leases.insertOne' && lost++ === 0) throw new Error('connection closed');
      return answer;
    });
    const asked = process.acquire('work', never);
    await time.pass(TTL / 2);
    expect((await asked)?.token).toBe(2);
    await process.close();
  });

  it('waits for an engine that cannot be reached', async () => {
    let cut = true;
    const process = leasesOf((_step, act) => (cut ? Promise.reject(new Error('unreachable')) : act()));
    const asked = process.acquire('work', never);
    await time.pass(2 * TTL);
    cut = false;
    await time.pass(TTL);
    expect((await asked)?.token).toBe(1);
    await process.close();
  });

  it('goes to no waiting caller, and is free, once its process closes', async () => {
    const [first, second] = [leasesOf(), leasesOf()];
    await first.acquire('work', never);
    const waiting = second.acquire('work', never);
    await second.close();
    expect(await waiting).toBeUndefined();
    await first.close();
    expect(await db.collection('leases').findOne({})).toMatchObject({ owner: null, token: 1 });
  });
});

describe('the registry of processes', () => {
  it('removes long-dead processes, and not one that came back', async () => {
    let now = 0;
    const registry = new MongoProcessRegistry(db, () => now);
    const report = { role: 'runner', position: '1', backlog: 0, uptimeMs: 0 };
    await registry.report({ id: 'dead', ...report });
    await registry.report({ id: 'back', ...report });
    await registry.live();
    now += 30 * SILENCE_MS;
    await registry.report({ id: 'back', ...report });
    expect((await registry.live()).map(({ id }) => id)).toEqual(['back']);
    expect((await db.collection('processes').find({}).toArray()).map(({ _id }) => String(_id))).toEqual(['back']);
  });
});
