import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import { type RunOutcome, type Sandbox, type SandboxFactory, SandboxGone, type SandboxSpec } from '../sandbox.js';
import { processCaller } from './process-caller.js';
import { userError } from './process-end.js';
import { type LentSandbox, SandboxPool } from './sandbox-pool.js';

const OUTCOME: RunOutcome = {
  status: 'ok',
  value: '1',
  emits: [],
  logs: [],
  dbChanges: {},
  startedAt: 0,
  endedAt: 0,
};

/** Process whose answers a test provides. */
class FakeProcess implements Sandbox {
  living = true;
  spent = false;
  cpu = 0;
  asked = 0;
  next: () => Promise<RunOutcome> = () => Promise.resolve(OUTCOME);

  constructor(readonly spec: SandboxSpec) {}
  ask = (): Promise<RunOutcome> => {
    this.asked++;
    return this.living ? this.next() : Promise.reject(new SandboxGone(this.spec.sourceId, 'it ended'));
  };
  run = (): Promise<RunOutcome> => new Promise(() => undefined);
  hook = (): Promise<RunOutcome> => Promise.resolve(OUTCOME);
  isSpent = (): boolean => this.spent;
  tellWaiting = (): void => undefined;
  alive = (): boolean => this.living;
  cpuMs = (): number => this.cpu;
  drain = (): void => undefined;
  stop = (): Promise<void> => {
    this.living = false;
    return Promise.resolve();
  };
}

describe('processes that are lent to calls', () => {
  let now: number;
  let made: FakeProcess[];
  let fail: Error | undefined;
  const pools: SandboxPool[] = [];
  const clock = { now: () => now };
  const factory: SandboxFactory = {
    level: 'process',
    start: (spec) => {
      if (fail) return Promise.reject(fail);
      const started = new FakeProcess(spec);
      made.push(started);
      return Promise.resolve(started);
    },
  };
  const spec = (name: string): Promise<SandboxSpec> =>
    Promise.resolve({ sourceId: name, workspaceId: 'o', bundleFile: '', props: {}, db: {}, concurrency: 1 });
  const poolOf = (maxWarm = 50, idleMs = 60_000): SandboxPool => {
    const pool = new SandboxPool(factory, { clock, maxWarm, idleMs });
    pools.push(pool);
    return pool;
  };
  const lend = (pool: SandboxPool, workspaceId: string, key?: string): Promise<LentSandbox> =>
    pool.lend(workspaceId, key, spec);
  /** Lends a process and returns it some time later. */
  const use = async (pool: SandboxPool, workspaceId: string, key?: string): Promise<LentSandbox> => {
    const lent = await lend(pool, workspaceId, key);
    now += 1;
    await lent.giveBack();
    return lent;
  };
  const living = (): readonly boolean[] => made.map((one) => one.living);

  beforeEach(() => {
    now = 1_000;
    made = [];
    fail = undefined;
  });
  afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.close())));

  it('serve later calls of their key', async () => {
    const pool = poolOf();
    const first = await use(pool, 'o', 'k');
    const second = await use(pool, 'o', 'k');
    expect(second.sandbox).toBe(first.sandbox);
    expect([first.isWarm, second.isWarm]).toEqual([false, true]);
    expect(pool.stats()).toMatchObject({ warm: 1, busy: 0, started: 1 });
  });

  it.each([
    ['another key', 'o', 'other'],
    ['another workspace with the same key', 'other', 'k'],
    ['a call without a key', 'o', undefined],
  ])('never serve %s', async (_what, workspaceId, key) => {
    const pool = poolOf();
    await use(pool, 'o', 'k');
    const other = await lend(pool, workspaceId, key);
    expect([other.isWarm, made.length]).toEqual([false, 2]);
    await other.giveBack();
  });

  it('end with a call that has no key', async () => {
    await use(poolOf(), 'o');
    expect(living()).toEqual([false]);
  });

  it('serve one call at a time, so two calls at once have two', async () => {
    const pool = poolOf();
    const [one, two] = await Promise.all([lend(pool, 'o', 'k'), lend(pool, 'o', 'k')]);
    expect(one.sandbox).not.toBe(two.sandbox);
    await one.giveBack();
    now += 1;
    await two.giveBack();
    // The most recently used process is used again, so that the other one stays idle.
    expect((await lend(pool, 'o', 'k')).sandbox).toBe(two.sandbox);
    expect(made).toHaveLength(2);
  });

  it('are not used again once they have ended or may serve no other call', async () => {
    const pool = poolOf();
    const breaks: ((one: FakeProcess) => void)[] = [
      (one) => void (one.living = false),
      (one) => void (one.spent = true),
    ];
    for (const breaking of breaks) {
      const lent = await lend(pool, 'o', 'k');
      breaking(made.at(-1) as FakeProcess);
      await lent.giveBack();
      expect([made.at(-1)?.living, pool.stats().warm]).toEqual([false, 0]);
    }
    for (const breaking of breaks) {
      await use(pool, 'o', 'k');
      breaking(made.at(-1) as FakeProcess);
      expect((await use(pool, 'o', 'k')).isWarm).toBe(false);
      expect(made.at(-2)?.living).toBe(false);
    }
  });

  it('leave nothing behind when they cannot be started', async () => {
    const pool = poolOf();
    fail = new Error('spawn EAGAIN');
    await expect(lend(pool, 'o', 'k')).rejects.toBe(fail);
    expect(pool.stats()).toMatchObject({ warm: 0, busy: 0, starting: 0 });
    fail = undefined;
    expect((await use(pool, 'o', 'k')).isWarm).toBe(false);
  });

  it('end once they are idle for long enough', async () => {
    const pool = new SandboxPool(factory, { idleMs: 5 });
    pools.push(pool);
    await use(pool, 'o', 'k');
    while (made[0]?.living) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(pool.stats()).toMatchObject({ warm: 0, evicted: 1 });
  });

  describe('within the bound of the pool', () => {
    it('the least recently used one ends first', async () => {
      const pool = poolOf(2);
      await use(pool, 'a', 'k');
      await use(pool, 'b', 'k');
      await use(pool, 'a', 'k');
      await use(pool, 'c', 'k');
      expect(living()).toEqual([true, false, true]);
    });

    it('one workspace keeps half of them', async () => {
      const pool = poolOf(4);
      for (let n = 0; n < 5; n++) await use(pool, 'o', `k${n}`);
      expect(living()).toEqual([false, false, false, true, true]);
      expect((await use(pool, 'o', 'k3')).isWarm).toBe(true);
    });

    it('count by their memory, as those of code steps do', async () => {
      const pool = poolOf(8);
      const caller = processCaller({ pool });
      const bundle = { hash: 'h', file: async () => 'bundle' };
      const request = { workspaceId: 'o', bundle, props: {}, call: { kind: 'additional_props' } as const };
      const call = async (more: object): Promise<void> => {
        await caller.call({ ...request, ...more });
        now += 200;
      };
      for (const key of ['a', 'b', 'c']) await call({ key, memoryMb: 512 });
      expect(living()).toEqual([false, true, true]);
      await call({ shared: { name: 'w', env: {} }, memoryMb: 1_024 });
      await call({ shared: { name: 'v', env: {} } });
      expect(living()).toEqual([false, false, true, true, true]);
    });

    it('one is kept where only one fits', async () => {
      const pool = poolOf(1);
      await use(pool, 'o', 'k');
      expect((await use(pool, 'o', 'k')).isWarm).toBe(true);
    });

    it('give way to processes of sources', async () => {
      const pool = poolOf(2);
      await use(pool, 'a', 'k');
      await use(pool, 'b', 'k');
      await pool.acquire('dc_1', 'c', () => spec('dc_1'));
      expect(living()).toEqual([false, true, true]);
    });

    it('take the place of idle processes of sources, and do not wait for busy ones', async () => {
      const pool = poolOf(2);
      await pool.acquire('dc_idle', 'a', () => spec('dc_idle'));
      void (await pool.acquire('dc_busy', 'b', () => spec('dc_busy'))).run({
        invocationId: 'i',
        event: '{}',
        timeoutMs: 1,
      });
      now += 200;
      const lent = await Promise.all([lend(pool, 'c', 'k'), lend(pool, 'c', 'k')]);
      expect(living()).toEqual([false, true, true, true]);
      // Lent processes may exceed the bound. So there is no place for the first idle one, and one for the second.
      for (const one of lent) await one.giveBack();
      expect(living()).toEqual([false, true, false, true]);
    });

    it('take no place from sources while they are lent', async () => {
      const pool = poolOf(1);
      await lend(pool, 'a', 'k');
      await pool.acquire('dc_1', 'b', () => spec('dc_1'));
      expect(living()).toEqual([true, true]);
    });
  });

  it('all end when the pool closes: those that are lent, kept and starting', async () => {
    const pool = poolOf();
    await use(pool, 'o', 'kept');
    const lent = await lend(pool, 'o', 'lent');
    const starting = lend(pool, 'o', 'starting');
    await pool.close();
    await starting;
    await lent.giveBack();
    expect(living()).toEqual([false, false, false]);
    expect(pool.stats()).toMatchObject({ warm: 0, starting: 0 });
    await expect(lend(pool, 'o', 'kept')).rejects.toBeInstanceOf(SandboxGone);
  });

  describe('to the caller of components', () => {
    const call = (pool: SandboxPool): Promise<CallOutcome> =>
      processCaller({ pool }).call({
        workspaceId: 'o',
        key: 'k',
        bundle: { hash: 'b', file: () => Promise.resolve('') },
        props: { token: { kind: 'value', value: 'secret' } },
        call: { kind: 'additional_props' },
      });

    it('a kept process that has ended without notice costs the caller nothing', async () => {
      const pool = poolOf();
      await call(pool);
      const [first] = made as [FakeProcess];
      // The host has not noticed the end yet.
      first.next = () => {
        first.living = false;
        return Promise.reject(new SandboxGone('call', 'its process ended'));
      };
      expect(await call(pool)).toMatchObject({ status: 'ok', value: '1' });
      expect(made.map(({ asked }) => asked)).toEqual([2, 1]);
    });

    it('a new process that ends at once is an error, not tried again', async () => {
      const pool = new SandboxPool({
        level: 'process',
        start: (whole) => {
          const one = new FakeProcess(whole);
          one.living = false;
          made.push(one);
          return Promise.resolve(one);
        },
      });
      pools.push(pool);
      expect(await call(pool)).toMatchObject({ status: 'killed', error: { code: 'ProcessExited' } });
      expect(made).toHaveLength(1);
    });

    it('a process whose call was killed is not used again', async () => {
      const pool = poolOf();
      await call(pool);
      const [first] = made as [FakeProcess];
      first.next = () => {
        first.living = false;
        return Promise.resolve({ ...OUTCOME, status: 'killed', error: userError('Timeout', 'too long') });
      };
      expect(await call(pool)).toMatchObject({ status: 'killed', error: { code: 'Timeout' } });
      expect(await call(pool)).toMatchObject({ status: 'ok' });
      expect(made).toHaveLength(2);
    });

    it('the process is started without the props of the call', async () => {
      await call(poolOf());
      expect(JSON.stringify(made[0]?.spec)).not.toContain('secret');
    });
  });
});
