import { describe, expect, it } from '@jest/globals';
import { InFlightInvocations } from '../in-flight-invocations.js';
import { sourceWorld, until } from './testing/source-world.js';
import { BegunRuns } from './begun-runs.js';

describe('which runs have begun', () => {
  const world = () => {
    const inFlight = new InFlightInvocations();
    const clock = { now: () => time };
    let time = 100;
    const runs = new BegunRuns(inFlight, clock);
    const { invocation } = sourceWorld();
    const handedOver = [0, 1, 2, 3].map((offset) => invocation(offset));
    const begunAt = () => handedOver.map((each) => inFlight.begunAt(each) ?? null);
    for (const each of handedOver) inFlight.add(each);
    const [a, b, c, d] = handedOver;
    if (!a || !b || !c || !d) throw new Error('four invocations');
    return { runs, inFlight, a, b, c, d, begunAt, at: (ms: number) => void (time = ms) };
  };

  it('begins them in order, each when one before it ends', () => {
    const { runs, a, b, c, d, begunAt, at } = world();
    for (const each of [a, b, c, d]) runs.handedOver(each, 2);
    expect(begunAt()).toEqual([100, 100, null, null]);
    at(200);
    runs.ended(b);
    expect(begunAt()).toEqual([100, 100, 200, null]);
  });

  it('forgets one that never began', () => {
    const { runs, a, b, c, begunAt } = world();
    for (const each of [a, b, c]) runs.handedOver(each, 1);
    runs.ended(b);
    runs.ended(a);
    expect(begunAt()).toEqual([100, null, 100, null]);
  });

  it('is no longer known of an invocation that is done', () => {
    const { runs, inFlight, a, begunAt } = world();
    runs.handedOver(a, 1);
    inFlight.remove(a);
    expect(begunAt()[0]).toBeNull();
  });
});

describe('the unfinished runs of a source', () => {
  it('are those in flight, with the time at which they began, and where the lane goes on', async () => {
    const t = sourceWorld();
    t.world.definition = { ...t.world.definition!, props: [{ kind: 'db', prop: 'db' }] };
    const runner = await t.load();
    await runner.accept([t.invocation(4), t.invocation(5)]);
    await until(() => t.sandboxes[0]?.pending.size === 2);
    const unfinished = (startedAt: number | null, id: string) => ({ id, kind: 'http', queuedAt: 1, startedAt });
    expect(runner.unfinished()).toEqual({
      runs: [unfinished(1_000, 'inv_4'), unfinished(null, 'inv_5')],
      through: 5,
    });
    t.sandboxes[0]?.end('inv_4');
    await until(() => t.acked.length === 1);
    expect(runner.unfinished()).toEqual({ runs: [unfinished(1_000, 'inv_5')], through: 5 });
    await runner.close(0);
  });
});
