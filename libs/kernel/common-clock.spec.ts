import { describe, expect, it } from '@jest/globals';
import { CommonClock } from './common-clock.js';

/** True time, the wall clock of a process, its monotonic clock, and a server whose answers take a while. */
class World {
  time = 1_700_000_000_000;
  wallAhead = 0;
  serverAhead = 0;
  readonly clock = new CommonClock({ now: () => this.time + this.wallAhead }, () => this.time - 1_699_999_000_000);

  /** A reading of which the request takes `there` and the answer `back` milliseconds. */
  async read(there = 1, back = 1): Promise<void> {
    await this.clock.read(async () => {
      this.time += there;
      const told = this.time + this.serverAhead;
      this.time += back;
      return told;
    });
  }

  /** How far the clock is ahead of the server's. */
  get error(): number {
    return this.clock.now() - (this.time + this.serverAhead);
  }
}

describe('the common clock', () => {
  it('is the own wall clock until the server was asked, and then the time of the server', async () => {
    const world = new World();
    world.wallAhead = 90_000;
    expect([world.error, world.clock.skewMs()]).toEqual([90_000, undefined]);
    await world.read();
    expect(Math.abs(world.error)).toBeLessThanOrEqual(1);
    expect(world.clock.skewMs()).toBeGreaterThanOrEqual(89_999);
    expect(world.clock.skewMs()).toBeLessThanOrEqual(90_001);
  });

  it('does not move when the wall clock is set while the process runs, and tells by how much that is off', async () => {
    const world = new World();
    await world.read();
    world.wallAhead = -3_600_000;
    world.time += 10_000;
    expect(Math.abs(world.error)).toBeLessThanOrEqual(1);
    expect(world.clock.skewMs()).toBeLessThanOrEqual(-3_599_999);
  });

  it.each([
    ['asked for', 80_000, 1],
    ['answered', 1, 80_000],
  ])('is right after a process was stopped between the time was %s', async (_, there, back) => {
    const world = new World();
    await world.read();
    await world.read(there, back);
    expect(Math.abs(world.error)).toBeLessThanOrEqual(1);
  });

  it('is put right by the next quick answer when the first took long', async () => {
    const world = new World();
    await world.read(10_000, 0);
    expect(Math.abs(world.error)).toBeGreaterThan(4_000);
    await world.read(2, 2);
    expect(Math.abs(world.error)).toBeLessThanOrEqual(4);
  });

  it('follows another server that leads now, or one whose clock is set', async () => {
    const world = new World();
    await world.read();
    for (const ahead of [1_500, -700, 0]) {
      world.serverAhead = ahead;
      await world.read(3, 3);
      expect(Math.abs(world.error)).toBeLessThanOrEqual(6);
    }
  });

  it('goes on while the server does not answer', async () => {
    const world = new World();
    await world.read();
    await expect(world.clock.read(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    world.time += 600_000;
    expect(Math.abs(world.error)).toBeLessThanOrEqual(1);
  });
});
