import { describe, expect, it } from '@jest/globals';
import { positionOf } from '#libs/kernel/events.js';
import { type HookRequest } from './hook-invocation.js';
import { type Invocation } from '../invocation.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { hookOutcome, ok } from './testing/fake-sandbox.js';
import { definition, sourceWorld, until } from './testing/source-world.js';

const NEXT = definition({ bundleHash: 'next' });
type World = ReturnType<typeof sourceWorld>;

const hookAt = (t: World, offset: number, over: Partial<HookRequest> = {}, id = `inv_${offset}`): Invocation => {
  const request: HookRequest = {
    hook: 'activate',
    definition: NEXT,
    deadline: 100_000,
    untilUptimeMs: 100_000,
    ...over,
  };
  return t.invocation(offset, { id, kind: 'hook', prop: '', respond: 'replies.api' }, JSON.stringify(request));
};

const settledAt = (t: World, offset: number, position: string): Invocation =>
  t.invocation(offset, { kind: 'settled', prop: '' }, JSON.stringify({ position }));

/** Hooks that run until the spec ends them. */
const heldHooks = () => {
  const ends: ((outcome: RunOutcome) => void)[] = [];
  const timeouts: number[] = [];
  const hook = (_: string, timeoutMs: number): Promise<RunOutcome> => {
    timeouts.push(timeoutMs);
    return new Promise((resolve) => ends.push(resolve));
  };
  return { ends, timeouts, hook };
};

describe('hooks that arrive over the lane', () => {
  it('are answered and acknowledged once their results are durable', async () => {
    const t = sourceWorld();
    let release = (): void => undefined;
    t.journal.held = new Promise((resolve) => (release = resolve));
    const runner = await t.load();
    await runner.accept([hookAt(t, 0)]);
    await until(() => t.journal.waiting === 1);
    expect([t.acked, t.outcomes]).toEqual([[], []]);
    release();
    await until(() => t.acked.length === 1);
    expect(t.outcomes).toEqual([['inv_0', hookOutcome]]);
    expect(t.journal.dbOf('dc_1')).toEqual({ hook: '1' });
    expect(t.journal.laneOf('dc_1').progress).toEqual({ through: 0, above: [] });
    expect(t.sandboxes.map(({ spec }) => spec.bundleFile)).toEqual(['/blobs/next']);
  });

  it('do not hold up the lane, so later records run with the hook’s definition', async () => {
    const { hook, ends } = heldHooks();
    const t = sourceWorld({ hook, auto: () => ok() });
    const runner = await t.load();
    await runner.accept([hookAt(t, 0), t.invocation(1)]);
    await until(() => t.acked.includes(1) && ends.length === 1);
    expect(t.sandboxes.map(({ started, spec }) => [started, spec.bundleFile])).toEqual([[['inv_1'], '/blobs/next']]);
    ends[0]?.(ok());
    await until(() => t.acked.includes(0));
    expect(t.journal.laneOf('dc_1').progress).toEqual({ through: 1, above: [] });
  });

  it('run one after the other', async () => {
    const { hook, ends } = heldHooks();
    const t = sourceWorld({ hook });
    const runner = await t.load();
    await runner.accept([hookAt(t, 0, { hook: 'deploy' }), hookAt(t, 1)]);
    await until(() => ends.length === 1);
    expect(t.sandboxes[0]?.hooks).toEqual(['deploy']);
    ends[0]?.(ok());
    await until(() => ends.length === 2);
    expect(t.sandboxes[0]?.hooks).toEqual(['deploy', 'activate']);
    ends[1]?.(ok());
    await until(() => t.acked.length === 2);
  });

  it('run once when they arrive twice', async () => {
    const t = sourceWorld();
    const runner = await t.load();
    await runner.accept([hookAt(t, 0, {}, 'inv_same')]);
    await until(() => t.acked.length === 1);
    await runner.accept([hookAt(t, 1, {}, 'inv_same')]);
    await until(() => t.acked.length === 2);
    expect(t.sandboxes[0]?.hooks).toEqual(['activate']);
  });

  it('run again under the same id in the source’s next owner when their process died', async () => {
    const t = sourceWorld(heldHooks());
    const runner = await t.load();
    await runner.accept([hookAt(t, 0)]);
    await until(() => t.sandboxes[0]?.hooks.length === 1);
    const after = sourceWorld({ journal: t.journal });
    await (await after.load()).accept([hookAt(after, 0)]);
    await until(() => after.acked.length === 1);
    expect(after.outcomes.map(([id]) => id)).toEqual(['inv_0']);
    expect(t.acked).toEqual([]);
  });

  it('get only the time left until their deadline, and do not run after it', async () => {
    const { hook, ends, timeouts } = heldHooks();
    const t = sourceWorld({ hook });
    t.world.now = 99_000;
    const runner = await t.load();
    await runner.accept([hookAt(t, 0)]);
    await until(() => ends.length === 1);
    expect(timeouts).toEqual([1_000]);
    t.world.now = 100_000;
    ends[0]?.(ok());
    await runner.accept([hookAt(t, 1)]);
    await until(() => t.acked.length === 2);
    expect(timeouts).toHaveLength(1);
    expect(t.logged).toEqual([expect.stringContaining('hook.too_late')]);
    expect(t.outcomes[1]?.[1].error?.message).toBe(
      'hook activate was not run: when a runner had it, its time was over 0 ms ago',
    );
  });

  it.each([-10, 10])('are judged by the uptime of their caller, whose clock is %d minutes apart', async (minutes) => {
    const { hook, ends, timeouts } = heldHooks();
    const t = sourceWorld({ hook });
    const caller = { uptimeMs: 5_000, looks: 0 };
    const uptimeOf = (address: string) => (address === 'replies.api' && caller.looks > 0 ? caller.uptimeMs : undefined);
    Object.assign(t.deps, { callers: { uptimeOf, look: async () => void caller.looks++ } });
    const deadline = t.world.now + minutes * 60_000;
    const runner = await t.load();
    await runner.accept([hookAt(t, 0, { deadline, untilUptimeMs: 7_000 })]);
    await until(() => ends.length === 1);
    expect(timeouts).toEqual([2_000]);
    caller.uptimeMs = 8_000;
    ends[0]?.(ok());
    await runner.accept([hookAt(t, 1, { deadline, untilUptimeMs: 7_000 })]);
    await until(() => t.acked.length === 2);
    expect([timeouts.length, caller.looks]).toEqual([1, 1]);
    expect(t.outcomes[1]?.[1].error?.message).toContain('its time was over 1000 ms ago');
  });

  it('do not run when their caller has gone', async () => {
    const t = sourceWorld(heldHooks());
    Object.assign(t.deps, { callers: { uptimeOf: () => undefined, look: async () => undefined } });
    const runner = await t.load();
    await runner.accept([hookAt(t, 0, { untilUptimeMs: 1e9 })]);
    await until(() => t.acked.length === 1);
    expect([t.sandboxes, t.logged]).toEqual([[], [expect.stringContaining('hook.too_late')]]);
  });

  it('are retried while the platform fails', async () => {
    const t = sourceWorld();
    let failures = 2;
    const { blobs } = t.deps;
    const deps = {
      ...t.deps,
      blobs: {
        fileOf: (hash: string) => (failures-- > 0 ? Promise.reject(new Error('no disk')) : blobs.fileOf(hash)),
      },
    };
    Object.assign(t.deps, deps);
    const runner = await t.load();
    await runner.accept([hookAt(t, 0)]);
    await until(() => t.acked.length === 1);
    expect(t.outcomes.map(([, { status }]) => status)).toEqual(['ok']);
  });

  it('stay in the lane when their process loses the source', async () => {
    const t = sourceWorld(heldHooks());
    const runner = await t.load();
    await runner.accept([hookAt(t, 0), hookAt(t, 1)]);
    await until(() => t.sandboxes[0]?.hooks.length === 1);
    await runner.close(1);
    expect([t.acked, t.outcomes, t.journal.commits]).toEqual([[], [], []]);
    expect(t.sandboxes[0]?.hooks).toEqual(['activate']);
  });

  it('keep their definition in force until the event log has been followed to the end of the operation', async () => {
    const t = sourceWorld({ auto: () => ok() });
    const runner = await t.load();
    await runner.accept([hookAt(t, 0), settledAt(t, 1, positionOf(7))]);
    await until(() => t.acked.length === 2);
    await runner.accept([t.invocation(2)]);
    await until(() => t.acked.length === 3);
    t.follower.position = positionOf(7);
    await until(() => runner.retire());
    const next = await t.load();
    await next.accept([t.invocation(3)]);
    await until(() => t.acked.length === 4);
    expect(t.sandboxes.map(({ spec }) => spec.bundleFile)).toEqual(['/blobs/next', '/blobs/hash']);
  });

  it('do not keep it in force forever when the operation never ends', async () => {
    const t = sourceWorld({ auto: () => ok() });
    const runner = await t.load();
    await runner.accept([hookAt(t, 0)]);
    await until(() => t.acked.length === 1);
    t.world.now += 16 * 60_000;
    await runner.accept([t.invocation(1)]);
    await until(() => t.acked.length === 2);
    expect(t.sandboxes.map(({ spec }) => spec.bundleFile)).toEqual(['/blobs/next', '/blobs/hash']);
  });

  it.each(['hook', 'settled'] as const)('acknowledge a malformed %s and log it', async (kind) => {
    const t = sourceWorld();
    const runner = await t.load();
    await runner.accept([t.invocation(0, { kind }, '{'), t.invocation(1, { kind }, '{"hook":"run"}')]);
    await until(() => t.acked.length === 2);
    expect(t.logged).toEqual(['invocation.malformed', 'invocation.malformed']);
  });
});
