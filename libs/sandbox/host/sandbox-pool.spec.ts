import { beforeEach, describe, expect, it } from '@jest/globals';
import { SandboxPool } from './sandbox-pool.js';
import {
  BundleNotLoaded,
  type RunOutcome,
  type Sandbox,
  type SandboxFactory,
  SandboxGone,
  type SandboxSpec,
} from '../sandbox.js';

const notLoaded = (message: string): BundleNotLoaded =>
  new BundleNotLoaded('a', { name: 'TypeError', message, stack: '', code: 'TypeError' });

const OUTCOME: RunOutcome = { status: 'ok', emits: [], logs: [], dbChanges: {}, startedAt: 0, endedAt: 0 };

class FakeSandbox implements Sandbox {
  living = true;
  cpu = 0;
  drained = 0;
  finish: (() => void)[] = [];
  run = (): Promise<RunOutcome> => new Promise((resolve) => this.finish.push(() => resolve(OUTCOME)));
  hook = (): Promise<RunOutcome> => Promise.resolve(OUTCOME);
  ask = (): Promise<RunOutcome> => Promise.resolve(OUTCOME);
  spent = false;
  isSpent = (): boolean => this.spent;
  tellWaiting = (): void => undefined;
  alive = (): boolean => this.living;
  cpuMs = (): number => this.cpu;
  drain = (): void => {
    this.drained++;
  };
  stop = (): Promise<void> => {
    this.living = false;
    return Promise.resolve();
  };
}

describe('the pool of warm processes', () => {
  let now: number;
  let made: FakeSandbox[];
  let fail: Error | undefined;
  const clock = { now: () => now };
  const factory: SandboxFactory = {
    level: 'process',
    start: () => {
      if (fail) return Promise.reject(fail);
      const sandbox = new FakeSandbox();
      made.push(sandbox);
      return Promise.resolve(sandbox);
    },
  };
  const spec = (sourceId: string) => () =>
    Promise.resolve({ sourceId, workspaceId: 'o', bundleFile: '', props: {}, db: {}, concurrency: 1 } as SandboxSpec);
  const request = { invocationId: 'i', event: '{}', timeoutMs: 1 };

  beforeEach(() => {
    now = 1_000;
    made = [];
    fail = undefined;
  });

  it('starts a process once for all concurrent callers, and keeps it', async () => {
    const pool = new SandboxPool(factory, { clock });
    let asked = 0;
    const counted = () => {
      asked++;
      return spec('a')();
    };
    const [one, two] = await Promise.all([pool.acquire('a', 'o', counted), pool.acquire('a', 'o', counted)]);
    expect(one).toBe(two);
    expect(await pool.acquire('a', 'o', counted)).toBe(one);
    expect(asked).toBe(1);
    expect(pool.stats()).toEqual({
      warm: 1,
      busy: 0,
      starting: 0,
      waiting: 0,
      started: 1,
      evicted: 0,
      drained: 0,
      spun: 0,
    });
    await pool.close();
  });

  it('starts another process when the first has ended', async () => {
    const pool = new SandboxPool(factory, { clock });
    await pool.acquire('a', 'o', spec('a'));
    (made[0] as FakeSandbox).living = false;
    await pool.acquire('a', 'o', spec('a'));
    expect(made).toHaveLength(2);
    await pool.close();
  });

  it('ends the least recently used process when there are too many', async () => {
    const pool = new SandboxPool(factory, { clock, maxWarm: 2 });
    await pool.acquire('a', 'o', spec('a'));
    now += 200;
    await pool.acquire('b', 'o', spec('b'));
    now += 200;
    await pool.acquire('a', 'o', spec('a'));
    now += 200;
    await pool.acquire('c', 'o', spec('c'));
    expect(made.map(({ living }) => living)).toEqual([true, false, true]);
    expect(pool.stats()).toMatchObject({ warm: 2, evicted: 1 });
    await pool.close();
    expect(made.some(({ living }) => living)).toBe(false);
  });

  it('never ends a busy process, so callers wait until one is idle', async () => {
    const pool = new SandboxPool(factory, { clock, maxWarm: 1 });
    const running = (await pool.acquire('a', 'o', spec('a'))).run(request);
    now += 200;
    const waiting = pool.acquire('b', 'o', spec('b'));
    await new Promise(setImmediate);
    expect(pool.stats()).toMatchObject({ warm: 1, busy: 1, waiting: 1 });
    made[0]?.finish.forEach((end) => end());
    await running;
    now += 200;
    await waiting;
    expect(made.map(({ living }) => living)).toEqual([false, true]);
    const closing = pool.acquire('c', 'o', spec('c'));
    const closed = expect(closing).rejects.toBeInstanceOf(SandboxGone);
    await pool.close();
    await closed;
  });

  describe('with several workspaces', () => {
    const of = (workspaceId: string, sourceId: string) => () =>
      spec(sourceId)().then((whole) => ({ ...whole, workspaceId }));
    const acquire = (pool: SandboxPool, workspaceId: string, n: number): Promise<Sandbox> =>
      pool.acquire(`${workspaceId}${n}`, workspaceId, of(workspaceId, `${workspaceId}${n}`));
    const turn = () => new Promise(setImmediate);

    it('gives the next process to the workspace with the fewest, however many others came before', async () => {
      const pool = new SandboxPool(factory, { clock, maxWarm: 4 });
      const runs = [];
      for (let n = 0; n < 4; n++) runs.push((await acquire(pool, 'hog', n)).run(request));
      const order: string[] = [];
      const waiting = [4, 5, 6].map((n) => acquire(pool, 'hog', n).then(() => order.push('hog')));
      waiting.push(acquire(pool, 'shy', 0).then(() => order.push('shy')));
      await turn();
      expect(pool.stats()).toMatchObject({ busy: 4, waiting: 4 });
      // In order of arrival, it would wait for three others.
      made[0]?.finish.forEach((end) => end());
      now += 200;
      while (order.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(order[0]).toBe('shy');
      for (const { finish } of made) finish.forEach((end) => end());
      await Promise.all(runs);
      await pool.close();
      await Promise.allSettled(waiting);
    });

    it('takes a busy process from a workspace that has all, once its runs have ended', async () => {
      const pool = new SandboxPool(factory, { clock, maxWarm: 4 });
      const hogs = [];
      for (let n = 0; n < 4; n++) hogs.push(await acquire(pool, 'hog', n));
      const runs = hogs.map((each) => each.run(request));
      const shy = acquire(pool, 'shy', 0);
      await turn();
      // One process is drained, and is not ended while a run is in progress.
      expect(made.map(({ drained }) => drained)).toEqual([1, 0, 0, 0]);
      expect(hogs.map((each) => each.alive())).toEqual([false, true, true, true]);
      expect(made.map(({ living }) => living)).toEqual([true, true, true, true]);
      made[0]?.finish.forEach((end) => end());
      expect(await runs[0]).toMatchObject({ status: 'ok' });
      await shy;
      expect(made.map(({ living }) => living)).toEqual([false, true, true, true, true]);
      expect(pool.stats()).toMatchObject({ drained: 1 });
      await pool.close();
    });

    it('takes no process from a workspace that has no more than its share', async () => {
      const pool = new SandboxPool(factory, { clock, maxWarm: 4 });
      for (let n = 0; n < 2; n++) void (await acquire(pool, 'a', n)).run(request);
      for (let n = 0; n < 2; n++) void (await acquire(pool, 'b', n)).run(request);
      const more = Promise.allSettled([acquire(pool, 'a', 2), acquire(pool, 'b', 2)]);
      await turn();
      expect(pool.stats()).toMatchObject({ busy: 4, waiting: 2, drained: 0 });
      await pool.close();
      await more;
    });

    it('evicts an idle process of the workspace with the most, not the least recently used', async () => {
      const pool = new SandboxPool(factory, { clock, maxWarm: 3 });
      await acquire(pool, 'shy', 0);
      now += 200;
      for (let n = 0; n < 2; n++) await acquire(pool, 'hog', n);
      now += 200;
      await acquire(pool, 'other', 0);
      expect(made.map(({ living }) => living)).toEqual([true, false, true, true]);
      await pool.close();
    });
  });

  describe('with processes of more memory', () => {
    const large = (pool: SandboxPool, name: string, workspaceId = 'o'): Promise<Sandbox> =>
      pool.acquire(name, workspaceId, spec(name), 513);
    const small = (pool: SandboxPool, name: string, workspaceId = 'o'): Promise<Sandbox> =>
      pool.acquire(name, workspaceId, spec(name));
    const poolOf = (): SandboxPool => new SandboxPool(factory, { clock, maxWarm: 4, placeMb: 256 });
    const living = (): readonly boolean[] => made.map((each) => each.living);

    it('counts one for each part of the usual memory that it has', async () => {
      const pool = poolOf();
      await large(pool, 'a');
      now += 200;
      await small(pool, 'b');
      now += 200;
      await small(pool, 'c');
      expect(living()).toEqual([false, true, true]);
      await large(pool, 'd');
      now += 200;
      await small(pool, 'e');
      expect(living()).toEqual([false, false, false, true, true]);
      await pool.close();
    });

    it('starts one when a place is free, and no other until it has room again', async () => {
      const pool = poolOf();
      const runs: Promise<RunOutcome>[] = [];
      for (const name of ['a', 'b', 'c']) runs.push((await small(pool, name)).run(request));
      runs.push((await large(pool, 'd')).run(request));
      const waiting = small(pool, 'e');
      for (const ended of [0, 1]) {
        made[ended]?.finish.forEach((end) => end());
        await runs[ended];
        now += 200;
        await pool.drop('ab'[ended] ?? '');
        expect(pool.stats()).toMatchObject({ waiting: 1 });
      }
      await pool.drop('c');
      await waiting;
      expect(living()).toEqual([false, false, false, true, true]);
      await pool.close();
    });

    it('takes one from a workspace that has more than its share by it', async () => {
      const pool = poolOf();
      void (await large(pool, 'a')).run(request);
      void (await small(pool, 'b', 'p')).run(request);
      const waiting = Promise.allSettled([small(pool, 'c', 'q')]);
      await new Promise(setImmediate);
      expect(made.map(({ drained }) => drained)).toEqual([1, 0]);
      await pool.close();
      await waiting;
    });
  });

  it('stops waiting for a source that was dropped', async () => {
    const pool = new SandboxPool(factory, { clock, maxWarm: 1 });
    const running = (await pool.acquire('a', 'o', spec('a'))).run(request);
    const waiting = expect(pool.acquire('b', 'o', spec('b'))).rejects.toBeInstanceOf(SandboxGone);
    await new Promise(setImmediate);
    await pool.drop('b');
    await waiting;
    made[0]?.finish.forEach((end) => end());
    await running;
    await pool.close();
  });

  it('starts a bounded number of processes at a time', async () => {
    const go: (() => void)[] = [];
    let most = 0;
    let starting = 0;
    const slow: SandboxFactory = {
      level: 'process',
      start: async () => {
        most = Math.max(most, ++starting);
        await new Promise<void>((resolve) => go.push(resolve));
        starting--;
        return new FakeSandbox();
      },
    };
    const pool = new SandboxPool(slow, { clock, maxStarting: 3 });
    const all = Array.from({ length: 10 }, (_, i) => pool.acquire(`s${i}`, 'o', spec(`s${i}`)));
    for (let done = 0; done < 10;) {
      await new Promise(setImmediate);
      const next = go.shift();
      if (!next) continue;
      next();
      done++;
    }
    await Promise.all(all);
    expect(most).toBe(3);
    await pool.close();
  });

  it('ends a process that is idle for long enough', async () => {
    const pool = new SandboxPool(factory, { clock: { now: () => Date.now() }, idleMs: 5 });
    await pool.acquire('a', 'o', spec('a'));
    while (made[0]?.living) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(pool.stats()).toMatchObject({ warm: 0, evicted: 1 });
    await pool.close();
  });

  it('pauses increasingly long after a bundle failed to load, until the source is dropped', async () => {
    const pool = new SandboxPool(factory, { clock, backoffMs: 100 });
    fail = notLoaded('no');
    const attempt = () => pool.acquire('a', 'o', spec('a')).catch((error: unknown) => error);
    expect(await attempt()).toBe(fail);
    const first = fail;
    fail = notLoaded('again');
    now += 99;
    expect(await attempt()).toBe(first);
    now += 1;
    expect(await attempt()).toBe(fail);
    now += 199;
    const second = fail;
    fail = undefined;
    expect(await attempt()).toBe(second);
    await pool.drop('a');
    expect(await attempt()).not.toBeInstanceOf(Error);
    await pool.close();
  });

  it('does not pause after a failure of the platform', async () => {
    const pool = new SandboxPool(factory, { clock });
    fail = new Error('spawn EAGAIN');
    await expect(pool.acquire('a', 'o', spec('a'))).rejects.toBe(fail);
    fail = undefined;
    await pool.acquire('a', 'o', spec('a'));
    await pool.close();
  });

  it('ends a process that was starting when it was dropped or the pool closed', async () => {
    const pool = new SandboxPool(factory, { clock });
    const starting = pool.acquire('a', 'o', spec('a'));
    await pool.drop('a');
    await starting;
    expect(made[0]?.living).toBe(false);
    const other = pool.acquire('b', 'o', spec('b'));
    await pool.close();
    await other;
    expect(made[1]?.living).toBe(false);
    await expect(pool.acquire('c', 'o', spec('c'))).rejects.toBeInstanceOf(SandboxGone);
    await pool.close();
  });
});
