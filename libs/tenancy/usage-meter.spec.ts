import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/engines/conformance/eventually.js';
import { openEmbedded } from '#libs/engines/embedded/index.js';
import { KEPT_MINUTES, NO_MINUTE_COUNTS } from './published.js';
import { InMemoryUsage } from './testing/in-memory-usage.js';
import { UsageMeter } from './usage-meter.js';

const NOON = Date.UTC(2026, 0, 1, 12);
const clock = { now: () => NOON };

describe('usage', () => {
  // docs/reference/rest-api.md#daily-usage
  it('counts runs of the UTC day, with a credit for each started 30 s', async () => {
    let now = Date.UTC(2026, 0, 1, 23, 59);
    const meter = new UsageMeter({ now: () => now }, new InMemoryUsage());
    meter.recordRun('o_1', 12.4);
    meter.recordRun('o_1', 30_001);
    meter.recordRun('o_2', 0);
    expect(await meter.ofToday('o_1')).toEqual({ invocations: 2, computeMs: 30_013, credits: 3 });
    expect(await meter.ofToday('o_2')).toEqual({ invocations: 1, computeMs: 0, credits: 1 });
    now += 60_000;
    expect(await meter.ofToday('o_1')).toEqual({ invocations: 0, computeMs: 0, credits: 0 });
    meter.recordRun('o_1', 1);
    await meter.close();
    expect(await meter.ofToday('o_1')).toEqual({ invocations: 1, computeMs: 1, credits: 1 });
    now -= 60_000;
    expect((await meter.ofToday('o_1')).invocations).toBe(2);
  });

  it('counts in each minute what happens in a workspace, over all processes', async () => {
    let now = NOON;
    const store = new InMemoryUsage();
    const [one, two] = [0, 1].map(() => new UsageMeter({ now: () => now }, store));
    if (!one || !two) throw new Error('two meters');
    one.add('o_1', 'arrivals');
    one.add('o_1', 'events', 3);
    one.add('o_1', 'failed', 0);
    two.recordRun('o_1', 10);
    two.add('o_2', 'attempts');
    await two.flush();
    now += 120_000;
    one.add('o_1', 'errors');
    const first = NOON / 60_000;
    const at = (minute: number, counts: object) => ({ workspaceId: 'o_1', minute, ...NO_MINUTE_COUNTS, ...counts });
    const seen = [at(first, { arrivals: 1, events: 3, runs: 1 }), at(first + 1, {}), at(first + 2, { errors: 1 })];
    expect(await one.ofMinutes('o_1', 3)).toEqual(seen);
    await one.flush();
    expect(await one.ofMinutes('o_1', 3)).toEqual(seen);
    expect(await two.ofMinutes('o_1', 2)).toEqual(seen.slice(1));
    await Promise.all([one.close(), two.close()]);
  });

  it('keeps minutes that cannot be stored, and no more of them than a store does', async () => {
    let now = NOON;
    const store = new InMemoryUsage();
    const meter = new UsageMeter({ now: () => now }, store);
    store.failure = new Error('disk full');
    meter.add('o_1', 'runs');
    await expect(meter.flush()).rejects.toThrow('disk full');
    now += (KEPT_MINUTES + 1) * 60_000;
    meter.add('o_1', 'runs', 2);
    await expect(meter.flush()).rejects.toThrow('disk full');
    store.failure = undefined;
    await meter.close();
    const minutes = await store.minutesOf('o_1', 0);
    expect(minutes.map(({ runs }) => runs)).toEqual([2]);
  });

  it('is stored within a second, and adds up over processes', async () => {
    const store = new InMemoryUsage();
    const [one, two] = [new UsageMeter(clock, store), new UsageMeter(clock, store)];
    one.recordRun('o_1', 10);
    two.recordRun('o_1', 10);
    await eventually(
      'both flushed',
      async () => (await store.of(Math.floor(NOON / 86_400_000), 'o_1')).invocations === 2,
    );
    one.recordRun('o_1', 10);
    expect((await one.ofToday('o_1')).invocations).toBe(3);
    expect((await two.ofToday('o_1')).invocations).toBe(2);
    await Promise.all([one.close(), two.close()]);
    expect((await two.ofToday('o_1')).invocations).toBe(3);
  });

  it('is counted exactly once while a flush runs', async () => {
    const meter = new UsageMeter(clock, new InMemoryUsage());
    meter.recordRun('o_1', 1);
    const found = [meter.ofToday('o_1'), meter.flush(), meter.ofToday('o_1')] as const;
    meter.recordRun('o_1', 1);
    const [before, , after] = await Promise.all(found);
    expect([before.invocations, after.invocations]).toEqual([2, 2]);
    await meter.close();
  });

  it('is kept and retried when it cannot be stored', async () => {
    const store = new InMemoryUsage();
    const failures: unknown[] = [];
    const meter = new UsageMeter(clock, store, (error) => failures.push(error));
    store.failure = new Error('disk full');
    meter.recordRun('o_1', 5);
    await expect(meter.flush()).rejects.toThrow('disk full');
    meter.recordRun('o_1', 5);
    await eventually('a flush by itself', () => failures.length > 0);
    expect(await meter.ofToday('o_1')).toEqual({ invocations: 2, computeMs: 10, credits: 2 });
    store.failure = undefined;
    await meter.close();
    expect(await new UsageMeter(clock, store).ofToday('o_1')).toEqual({ invocations: 2, computeMs: 10, credits: 2 });
  });

  it('survives a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-usage-'));
    const open = () =>
      openEmbedded({
        dataDir,
        clock,
        secretKey: Buffer.alloc(32, 7),
        onFatal: (error) => {
          throw error;
        },
      });
    const first = await open();
    const meter = new UsageMeter(clock, first.usage);
    meter.recordRun('o_1', 40_000);
    await meter.close();
    await first.close();
    const second = await open();
    const next = new UsageMeter(clock, second.usage);
    next.recordRun('o_1', 2);
    expect(await next.ofToday('o_1')).toEqual({ invocations: 2, computeMs: 40_002, credits: 3 });
    await next.close();
    await second.close();
    rmSync(dataDir, { recursive: true });
  });
});
