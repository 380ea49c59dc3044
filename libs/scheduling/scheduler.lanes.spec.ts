import { describe, expect, it } from '@jest/globals';
import { every, schedulerWorlds, START, until } from './testing/scheduler-world.js';

const world = schedulerWorlds();

describe('the scheduler, while ticks cannot be written', () => {
  it('retries when the log cannot write, loses nothing, and keeps the scheduled time', async () => {
    const { log, time, sources, failures, start, timesOf } = await world();
    const scheduler = await start();
    sources.set('dc_a', [every(60)], START);
    log.onNextPublish(() => {
      throw new Error('log is down');
    });
    await time.advance(60_000);
    await until(() => scheduler.metrics.ticks === 1);
    expect(await timesOf()).toEqual([60]);
    expect([failures, scheduler.metrics.failures]).toEqual([['log is down'], 1]);
    await time.advance(60_000);
    expect(await timesOf()).toEqual([60, 120]);
  });

  it('publishes the ticks of other timers while the lane of one source cannot be written', async () => {
    const { log, time, sources, failures, start, timesOf } = await world();
    const scheduler = await start();
    const atB = (count: number) => () => log.recordsOf('invocations.dc_b').length === count;
    log.hang('invocations.dc_a');
    sources.set('dc_a', [every(60)], START);
    sources.set('dc_b', [every(60)], START);
    await time.advance(61_000);
    await until(atB(1));
    log.refuse('invocations.dc_a');
    await until(() => scheduler.metrics.ticks === 1);
    await time.advance(59_000);
    await until(atB(2));
    expect(failures).toEqual(['invocations.dc_a has no leader']);
    await until(() => log.hangingOf('invocations.dc_a') === 1);
    log.recover('invocations.dc_a');
    await until(() => scheduler.metrics.ticks === 3);
    // The tick of minute 1 came late, and the scheduler does not catch up on that of minute 2.
    expect(await timesOf()).toEqual([60]);
  });

  it('never publishes the refused tick of a timer that was disarmed', async () => {
    const { log, time, sources, failures, start, timesOf } = await world();
    await start();
    log.hang('invocations.dc_a');
    sources.set('dc_a', [every(60)], START);
    await time.advance(60_000);
    await until(() => log.hangingOf('invocations.dc_a') === 1);
    sources.set('dc_a', [every(90)], START);
    log.refuse('invocations.dc_a');
    await until(() => failures.length === 1);
    log.recover('invocations.dc_a');
    await time.advance(30_000);
    await until(() => log.recordsOf('invocations.dc_a').length > 0);
    expect(await timesOf()).toEqual([90]);
  });

  it.each([
    ['while its timer was armed', 60_000, false],
    ['after its timer was disarmed', 60_000, true],
    ['while its tick was on its way', 0, false],
  ])('forgets the last tick of a source that was deleted %s', async (_, after, isDisarmed) => {
    const { log, time, sources, start, timesOf } = await world();
    const scheduler = await start();
    sources.set('dc_a', [every(60)], START);
    if (after === 0) log.hang('invocations.dc_a');
    await time.advance(60_000 + after);
    if (isDisarmed) sources.set('dc_a', [], 0);
    sources.remove('dc_a');
    if (after === 0) {
      log.recover('invocations.dc_a');
      await until(() => scheduler.metrics.ticks === 1);
    }
    const before = await timesOf();
    // A remembered last tick would count, as it does after a restart.
    sources.set('dc_a', [every(60)], START);
    await time.advance(0);
    expect(await timesOf()).toEqual([...before, 60]);
  });
});
