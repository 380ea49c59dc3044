import { describe, expect, it, jest } from '@jest/globals';
import { LeasedWork, type RunningWork } from './leased-work.js';
import { type Lease, type Leases } from './leases.js';

/** One lease as two processes see it. Its owner keeps it until it is released or lost. */
class OneLease implements Leases {
  private owner: AbortController | undefined;
  private readonly waiting: (() => void)[] = [];
  token = 0;

  async acquire(name: string, signal: AbortSignal, onHeldElsewhere?: () => void): Promise<Lease | undefined> {
    while (this.owner && !signal.aborted) {
      onHeldElsewhere?.();
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    if (signal.aborted) return undefined;
    const mine = new AbortController();
    this.owner = mine;
    const release = async (): Promise<void> => {
      if (this.owner !== mine) return;
      this.owner = undefined;
      for (const wake of this.waiting.splice(0)) wake();
    };
    return { name, token: ++this.token, lost: mine.signal, release };
  }

  /** Revokes the lease of an owner that did not renew it in time. */
  lose(): void {
    const { owner } = this;
    this.owner = undefined;
    owner?.abort();
    for (const wake of this.waiting.splice(0)) wake();
  }
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
};

describe('leased work', () => {
  const running = new Set<string>();
  const work = (who: string, leases: Leases, start?: () => Promise<RunningWork>) => {
    const failures: string[] = [];
    const leased = new LeasedWork({
      name: 'timers',
      leases,
      retryMs: 1,
      onFailure: (error) => failures.push(error.message),
      start:
        start ??
        (async () => {
          expect(running.size).toBe(0);
          running.add(who);
          return { stop: async () => void running.delete(who) };
        }),
    });
    return { leased, failures };
  };

  it('runs in one process at a time, and moves to the other when that process stops', async () => {
    const leases = new OneLease();
    const a = work('a', leases);
    const b = work('b', leases);
    a.leased.start();
    await until(() => running.has('a'));
    b.leased.start();
    expect([a.leased.owned, b.leased.owned]).toEqual([true, false]);
    await a.leased.stop();
    await until(() => running.has('b'));
    expect([a.leased.owned, b.leased.owned]).toEqual([false, true]);
    await b.leased.stop();
    expect([running.size, a.failures, b.failures]).toEqual([0, [], []]);
  });

  it('stops when the lease is lost, and waits for it again', async () => {
    const leases = new OneLease();
    const { leased, failures } = work('a', leases);
    leased.start();
    await until(() => running.has('a'));
    leases.lose();
    await until(() => leases.token === 2 && running.has('a'));
    await leased.stop();
    expect(failures).toEqual([]);
  });

  it('that ends by itself is reported, stopped, released and started again', async () => {
    const leases = new OneLease();
    let starts = 0;
    let stops = 0;
    const { leased, failures } = work('a', leases, async () => {
      starts++;
      return {
        stop: async () => void stops++,
        ...(starts === 1 ? { ended: Promise.resolve(new Error('a poison event')) } : {}),
      };
    });
    leased.start();
    await until(() => starts === 2);
    expect([failures, stops, leases.token]).toEqual([['a poison event'], 1, 2]);
    await leased.stop();
    expect(stops).toBe(2);
  });

  it('that cannot start leaves the lease to others meanwhile', async () => {
    const leases = new OneLease();
    let tries = 0;
    const { leased, failures } = work('a', leases, async () => {
      tries++;
      throw new Error('no store');
    });
    leased.start();
    await until(() => tries >= 3);
    await leased.stop();
    expect(failures.length).toBeGreaterThanOrEqual(2);
    expect(leases.token).toBe(tries);
    expect(leased.owned).toBe(false);
  });

  it('shows a failure until the work runs again', async () => {
    const leases = new OneLease();
    let broken = true;
    const { leased, failures } = work('a', leases, async () => {
      if (broken) throw new Error('a poison event');
      return { stop: async () => undefined };
    });
    leased.start();
    await until(() => failures.length > 0);
    expect(leased.failure?.message).toBe('a poison event');
    broken = false;
    await until(() => leased.owned);
    expect(leased.failure).toBeUndefined();
    await leased.stop();
  });

  it('that failed clears its failure when another process holds the lease', async () => {
    const leases = new OneLease();
    const { leased, failures } = work('a', leases, async () => {
      throw new Error('no store');
    });
    leased.start();
    await until(() => failures.length > 0);
    const taken = await leases.acquire('timers', new AbortController().signal);
    await until(() => leased.failure === undefined);
    await leased.stop();
    await taken?.release();
  });

  it('pauses shortly again after it has run for long', async () => {
    const leases = new OneLease();
    let starts = 0;
    let end: (error: Error) => void = () => undefined;
    const { leased, failures } = work('a', leases, async () => {
      if (++starts < 5) throw new Error('not yet');
      return { ended: new Promise<Error>((resolve) => (end = resolve)), stop: async () => undefined };
    });
    const pauses = jest.spyOn(global, 'setTimeout');
    leased.start();
    await until(() => leased.owned);
    expect(pauses.mock.calls.map(([, ms]) => ms)).toContain(8);
    const before = performance.now();
    await until(() => performance.now() - before > 40);
    pauses.mockClear();
    end(new Error('late'));
    await until(() => failures.length === 5);
    await until(() => starts === 6);
    expect(pauses.mock.calls.map(([, ms]) => ms)).not.toContain(16);
    pauses.mockRestore();
    await leased.stop();
  });

  it('may be stopped while it waits for the lease', async () => {
    const leases = new OneLease();
    const other = await leases.acquire('timers', new AbortController().signal);
    const { leased } = work('a', leases);
    leased.start();
    await leased.stop();
    await other?.release();
    expect([running.size, leases.token]).toEqual([0, 1]);
  });
});
