import { describe, expect, it } from '@jest/globals';
import { cron, every, schedulerWorlds, START, topics } from './testing/scheduler-world.js';

const world = schedulerWorlds();

describe('the scheduler', () => {
  it('ticks an interval at once after the deployment, then without drift', async () => {
    const { log, time, sources, start, timesOf } = await world();
    await start();
    sources.set('dc_a', [every(60)], START, true);
    await time.advance(0);
    expect(await timesOf()).toEqual([0]);
    await time.advance(180_000);
    expect(await timesOf()).toEqual([0, 60, 120, 180]);
    const [record] = await log.read(topics.invocations('dc_a'), -1, 1);
    expect(record?.key).toBe('dc_a');
    expect(record?.headers).toEqual({
      id: expect.stringMatching(/^inv_[0-9a-z]{18}$/),
      kind: 'timer',
      source: 'dc_a',
      workspace: 'o_1',
      at: String(START),
      hops: '0',
      prop: 'timer',
      respond: '',
    });
  });

  it('ticks the trigger of a workflow from its own time on, and names it', async () => {
    const { log, time, sources, start, timesOf } = await world();
    await start();
    const trigger = { id: 'ti_1', name: 'hourly', alone: true, since: START + 10_000 };
    sources.set('dc_a', [{ ...every(60, 'ti_1'), trigger }], START);
    await time.advance(130_000);
    expect(await timesOf()).toEqual([70, 130]);
    const [record] = await log.read(topics.invocations('dc_a'), -1, 1);
    const named = JSON.stringify({ type: 'timer', id: 'ti_1', name: 'hourly' });
    expect(record?.headers).toMatchObject({ kind: 'timer', prop: 'ti_1', trigger: named, alone: '1' });
  });

  it('does not tick at once after a mere update', async () => {
    const { time, sources, start, timesOf } = await world();
    await start();
    sources.set('dc_a', [every(60)], START, false);
    await time.advance(59_000);
    expect(await timesOf()).toEqual([]);
    await time.advance(1_000);
    expect(await timesOf()).toEqual([60]);
  });

  it('ticks a cron at its times, never at once', async () => {
    const { time, sources, start, timesOf } = await world();
    await start();
    sources.set('dc_a', [cron('*/15 * * * *')], START + 60_000, true);
    await time.advance(3_600_000);
    expect(await timesOf()).toEqual([900, 1_800, 2_700, 3_600]);
  });

  it('ticks each timer of a source by its prop', async () => {
    const { time, sources, start, given } = await world();
    await start();
    sources.set('dc_a', [every(60, 'fast'), every(120, 'slow')], START);
    await time.advance(120_000);
    expect((await given()).map(({ prop, at }) => `${prop} ${at}`).sort()).toEqual(['fast 120', 'fast 60', 'slow 120']);
    expect(new Set((await given()).map(({ id }) => id)).size).toBe(3);
  });

  it('stops with the source, and starts again with it', async () => {
    const { time, sources, start, timesOf } = await world();
    const scheduler = await start();
    sources.set('dc_a', [every(60)], START);
    await time.advance(60_000);
    sources.set('dc_a', [], 0);
    expect(scheduler.size()).toBe(0);
    await time.advance(600_000);
    expect(await timesOf()).toEqual([60]);
    sources.set('dc_a', [every(60)], time.now);
    await time.advance(60_000);
    expect(await timesOf()).toEqual([60, 720]);
    sources.remove('dc_a');
    await time.advance(600_000);
    expect(await timesOf()).toEqual([60, 720]);
    expect(time.pending).toBe(0);
  });

  it('uses a changed timer from the change on', async () => {
    const { time, sources, start, timesOf } = await world();
    await start();
    sources.set('dc_a', [every(60)], START);
    await time.advance(90_000);
    sources.set('dc_a', [every(20)], time.now);
    await time.advance(40_000);
    expect(await timesOf()).toEqual([60, 110, 130]);
  });

  describe('restart', () => {
    it('continues from the last tick, without an extra one', async () => {
      const { time, sources, start, timesOf } = await world();
      sources.set('dc_a', [every(60)], START, true);
      const first = await start();
      await time.advance(70_000);
      await first.close();
      await start();
      await time.advance(60_000);
      expect(await timesOf()).toEqual([0, 60, 120]);
    });

    it.each([
      ['interval', every(60), [60, 120, 3_660]],
      ['cron', cron('* * * * *'), [60, 120, 3_660]],
    ])('owes one tick after downtime, not one for each missed: %s', async (_, timer, expected) => {
      const { time, sources, start, timesOf } = await world();
      sources.set('dc_a', [timer], START);
      const first = await start();
      await time.advance(60_000);
      await first.close();
      await time.advance(3_550_000);
      const second = await start();
      await time.advance(5_000);
      await second.close();
      // A second restart owes no tick for the same downtime.
      await start();
      await time.advance(60_000);
      expect(await timesOf()).toEqual(expected);
    });

    it('publishes the same id again after a crash between publishing a tick and storing it', async () => {
      const { time, sources, ticks, failures, start, given } = await world();
      sources.set('dc_a', [every(60)], START);
      const first = await start();
      ticks.failing = true;
      await time.advance(60_000);
      await first.close();
      ticks.failing = false;
      await start();
      await time.advance(0);
      const ids = (await given()).map(({ id }) => id);
      expect(ids.length).toBeGreaterThanOrEqual(2);
      expect(new Set(ids).size).toBe(1);
      expect(failures).toContain('disk full');
    });
  });

  it('never publishes one scheduled time twice, however the source changes in the meantime', async () => {
    const { time, sources, start, given } = await world();
    let scheduler = await start();
    sources.set('dc_a', [every(15)], START, true);
    for (let i = 0; i < 50; i++) {
      await time.advance(7_000);
      const armed = sources.armed('dc_a');
      // Sets the same timers again, as a restarted view does.
      if (i % 3 === 0 && armed) sources.set('dc_a', armed.timers, armed.since, armed.first);
      if (i % 7 === 0) {
        await scheduler.close();
        scheduler = await start();
      }
    }
    const all = await given();
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all.map(({ at }) => at)).toEqual(Array.from({ length: all.length }, (_, i) => i * 15));
    expect(all.length).toBe(24);
  });

  it('can be started and closed repeatedly in one process, and leaves nothing behind', async () => {
    const { time, sources, start, timesOf } = await world();
    sources.set('dc_a', [every(60)], START, true);
    for (let turn = 0; turn < 3; turn++) {
      const scheduler = await start();
      await time.advance(60_000);
      await scheduler.close();
      expect([sources.listening, time.pending]).toEqual([0, 0]);
    }
    await time.advance(120_000);
    expect(await timesOf()).toEqual([0, 60, 120, 180]);
    // Expects the first tick of a source deployed while no scheduler ran, and the one owed tick.
    sources.set('dc_b', [every(60)], time.now, true);
    await start();
    await time.advance(0);
    expect(await timesOf()).toEqual([0, 60, 120, 180, 240]);
    expect(await timesOf('dc_b')).toEqual([300]);
  });

  it('gives a tick one id when two schedulers publish it', async () => {
    const { time, sources, start, given } = await world();
    sources.set('dc_a', [every(60), cron('*/5 * * * *', 'cron')], START, true);
    await start();
    await time.advance(90_000);
    await start();
    await time.advance(300_000);
    const ticks = await given();
    const scheduled = new Set(ticks.map(({ prop, at }) => `${prop} ${at}`));
    expect(ticks.length).toBeGreaterThan(scheduled.size);
    expect(new Set(ticks.map(({ id }) => id)).size).toBe(scheduled.size);
    expect([...scheduled].sort()).toEqual(
      ['cron 300', ...[0, 60, 120, 180, 240, 300, 360].map((at) => `timer ${at}`)].sort(),
    );
  });

  it('drops the tick of a source whose topic is deleted', async () => {
    const { time, sources, start } = await world();
    const scheduler = await start();
    sources.set('dc_gone', [every(60)], START);
    await time.advance(60_000);
    expect(scheduler.metrics).toMatchObject({ ticks: 0, dropped: 1 });
  });

  it('has one alarm for 10,000 timers, reads the clock every minute, and writes ticks in batches', async () => {
    const { log, time, sources, start } = await world();
    for (let i = 0; i < 10_000; i++) sources.set(`dc_${i}`, [every(3_600 + (i % 100))], START);
    const scheduler = await start();
    expect([scheduler.size(), time.pending]).toEqual([10_000, 1]);
    expect(time.waits).toEqual([60_000]);
    await time.advance(3_600_000);
    expect(time.pending).toBe(1);
    expect(log.published.map((records) => records.length)).toEqual([100]);
    await time.advance(100_000);
    expect(scheduler.metrics.dropped).toBe(10_000);
  });

  it('forgets disarmed timers, even those due far in the future', async () => {
    const { time, sources, start } = await world();
    const scheduler = await start();
    for (let i = 0; i < 20_000; i++) sources.set('dc_a', [every(86_400)], START + i);
    expect([scheduler.size(), time.pending]).toEqual([1, 1]);
  });

  it('handles a clock that is set back or forward', async () => {
    const { time, sources, start, timesOf } = await world();
    await start();
    sources.set('dc_a', [every(60)], START);
    await time.advance(60_000);
    time.now -= 50_000;
    await time.advance(60_000);
    expect(await timesOf()).toEqual([60]);
    await time.advance(50_000);
    expect(await timesOf()).toEqual([60, 120]);
    time.now += 3_600_000;
    await time.advance(60_000);
    expect((await timesOf()).slice(0, 3)).toEqual([60, 120, 180]);
    expect(await timesOf()).toHaveLength(4);
  });
});
