import { expect, it } from '@jest/globals';
import { type Lease, type Leases } from '#libs/kernel/leases.js';
import { type MakeHarness, type Part } from './harness.js';
import { runParts } from './run-parts.js';

export const LEASES_PARTS = ['acquire', 'exclusion', 'takeover', 'release', 'abort'] as const;

export interface LeaseProcess {
  readonly leases: Leases;
  /** Stops everything, as after kill -9. */
  crash(): void;
}

/** Leases as seen by several processes. In the embedded engine all of them are one process. */
export interface LeasesUnderTest {
  process(): LeaseProcess;
  /** Advances all processes that did not crash by several times the time to live. */
  elapse(): Promise<void>;
}

export const describeLeases = (name: string, make: MakeHarness<LeasesUnderTest>): void =>
  runParts(`Leases: ${name}`, LEASES_PARTS, parts, make);

const never = new AbortController().signal;
const acquired = async ({ leases }: LeaseProcess, name = 'work'): Promise<Lease> => {
  const lease = await leases.acquire(name, never);
  if (!lease) throw new Error('nothing aborted it');
  return lease;
};

const parts: Record<(typeof LEASES_PARTS)[number], Part<LeasesUnderTest>> = {
  acquire: (port) => {
    it('grants a free lease at once, each name independently', async () => {
      const process = port().process();
      const [one, other] = [await acquired(process, 'one'), await acquired(process, 'other')];
      expect([one.name, other.name]).toEqual(['one', 'other']);
      expect([one.lost.aborted, other.lost.aborted]).toEqual([false, false]);
      await one.release();
      await other.release();
    });

    it('keeps it while its process lives', async () => {
      const lease = await acquired(port().process());
      await port().elapse();
      await port().elapse();
      expect(lease.lost.aborted).toBe(false);
      await lease.release();
    });
  },

  exclusion: (port) => {
    it('grants it to one process at a time, with a greater token at each change', async () => {
      const tokens: number[] = [];
      let inside = 0;
      let most = 0;
      const work = async (): Promise<void> => {
        const process = port().process();
        for (let round = 0; round < 3; round++) {
          const lease = await acquired(process);
          tokens.push(lease.token);
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setImmediate(resolve));
          inside--;
          await lease.release();
        }
      };
      let working = true;
      const done = Promise.all([work(), work(), work()]).finally(() => (working = false));
      while (working) await Promise.race([done, port().elapse()]);
      await done;
      expect(most).toBe(1);
      expect(tokens).toHaveLength(9);
      expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    });

    it('tells a process that waits that another one lives and holds the lease', async () => {
      const owner = await acquired(port().process());
      const abort = new AbortController();
      let told = 0;
      const asked = port()
        .process()
        .leases.acquire('work', abort.signal, () => told++);
      await port().elapse();
      expect(told).toBeGreaterThan(0);
      abort.abort();
      expect(await asked).toBeUndefined();
      await owner.release();
    });

    it('grants it to no other process while its owner lives, however long they wait', async () => {
      const order: string[] = [];
      const owner = await acquired(port().process());
      const waiting = acquired(port().process()).then((lease) => {
        order.push('next');
        return lease;
      });
      await port().elapse();
      order.push('released');
      await owner.release();
      await port().elapse();
      const next = await waiting;
      expect(order).toEqual(['released', 'next']);
      expect(owner.lost.aborted).toBe(false);
      await next.release();
    });
  },

  takeover: (port) => {
    it('tells a process that waits for the lease of a dead one of no owner', async () => {
      const first = port().process();
      await acquired(first);
      first.crash();
      let told = 0;
      const asked = port()
        .process()
        .leases.acquire('work', never, () => told++);
      await port().elapse();
      await (await asked)?.release();
      expect(told).toBe(0);
    });

    it('grants the lease of a dead process to the next one that asks', async () => {
      const first = port().process();
      const { token } = await acquired(first);
      first.crash();
      const asked = acquired(port().process());
      await port().elapse();
      const lease = await asked;
      expect(lease.token).toBeGreaterThan(token);
      expect(lease.lost.aborted).toBe(false);
      await lease.release();
    });

    it('grants it to one of several that ask', async () => {
      const first = port().process();
      await acquired(first);
      first.crash();
      const got: Lease[] = [];
      const asked = [port().process(), port().process(), port().process()].map(async (process) => {
        const lease = await acquired(process);
        got.push(lease);
        return lease;
      });
      await port().elapse();
      expect(got).toHaveLength(1);
      // Each of the others acquires the lease from the previous one.
      for (let i = 0; i < asked.length; i++) {
        await got[i]?.release();
        await port().elapse();
      }
      const tokens = (await Promise.all(asked)).map(({ token }) => token);
      expect(new Set(tokens).size).toBe(3);
    });
  },

  release: (port) => {
    it('is idempotent, and does not free a lease that another process has by then', async () => {
      const [first, second, third] = [port().process(), port().process(), port().process()];
      const lease = await acquired(first);
      await lease.release();
      await lease.release();
      const next = await acquired(second);
      await lease.release();
      const order: string[] = [];
      const waiting = acquired(third).then((last) => {
        order.push('third');
        return last;
      });
      await port().elapse();
      order.push('released');
      await next.release();
      await port().elapse();
      await (await waiting).release();
      expect(order).toEqual(['released', 'third']);
    });
  },

  abort: (port) => {
    it('ends the wait without a lease, and leaves it to others', async () => {
      const owner = await acquired(port().process());
      const abort = new AbortController();
      const given = port().process().leases.acquire('work', abort.signal);
      abort.abort();
      expect(await given).toBeUndefined();
      await owner.release();
      const next = await acquired(port().process());
      await port().elapse();
      expect(next.lost.aborted).toBe(false);
      await next.release();
    });

    it('before it begins requests nothing', async () => {
      expect(await port().process().leases.acquire('work', AbortSignal.abort())).toBeUndefined();
      const lease = await acquired(port().process());
      await lease.release();
    });
  },
};
