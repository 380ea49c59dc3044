import { describe, expect, it } from '@jest/globals';
import { positionOf } from '#libs/kernel/events.js';
import { type ProcessReport } from '#libs/kernel/process-registry.js';
import { LiveCallers } from './live-callers.js';

const report = (id: string, uptimeMs: number): ProcessReport => ({
  id,
  role: 'command-api',
  position: positionOf(0),
  backlog: 0,
  uptimeMs,
});

const world = () => {
  const state = { now: 5_000, live: [] as readonly ProcessReport[] };
  const callers = new LiveCallers({ live: async () => state.live }, () => state.now);
  return { state, callers };
};

describe('the uptime of a process that awaits answers', () => {
  it('goes on from its last report', async () => {
    const { state, callers } = world();
    state.live = [report('a', 90_000)];
    await callers.look();
    state.now += 700;
    expect(callers.uptimeOf('replies.a')).toBe(90_700);
  });

  it('does not go back when a report was read late', async () => {
    const { state, callers } = world();
    state.live = [report('a', 90_000)];
    await callers.look();
    state.now += 2_000;
    await callers.look();
    expect(callers.uptimeOf('replies.a')).toBe(92_000);
  });

  it('goes on after its process is silent, and ends some time later', async () => {
    const { state, callers } = world();
    state.live = [report('a', 90_000)];
    await callers.look();
    state.live = [];
    state.now += 60_000;
    await callers.look();
    expect(callers.uptimeOf('replies.a')).toBe(150_000);
    state.now += 2 * 60 * 60_000;
    await callers.look();
    expect(callers.uptimeOf('replies.a')).toBeUndefined();
  });

  it('is not known of a process that was not seen, and of another address', async () => {
    const { state, callers } = world();
    state.live = [report('a', 1)];
    await callers.look();
    expect(['replies.none', 'a'].map((address) => callers.uptimeOf(address))).toEqual([undefined, undefined]);
  });
});
