import { setTimeout as pause } from 'node:timers/promises';
import { type MonotonicTime } from '../monotonic-time.js';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Real ms after which a loop that does not sleep again is taken for one that ended. */
const ENDED_MS = 1_500;

/**
 * Time that passes when a spec says so: sleepers wake one after the other, each when the one before it has done what it
 * does between two sleeps (which takes real time: it asks a server).
 */
export class VirtualTime {
  private time = 0;
  private readonly sleepers = new Set<Sleeper>();

  /** As one process has it. After `stop` nothing of that process wakes again. */
  process(): MonotonicTime & { stop(): void } {
    const mine = new Set<Sleeper>();
    let stopped = false;
    return {
      now: () => this.time,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (stopped) return;
          const end = (): void => {
            this.sleepers.delete(sleeper);
            mine.delete(sleeper);
            signal.removeEventListener('abort', end);
            resolve();
          };
          const sleeper = { at: this.time + ms, wake: end };
          if (signal.aborted) {
            resolve();
            return;
          }
          signal.addEventListener('abort', end);
          mine.add(sleeper);
          this.sleepers.add(sleeper);
        }),
      stop: () => {
        stopped = true;
        for (const sleeper of mine) this.sleepers.delete(sleeper);
      },
    };
  }

  async pass(ms: number): Promise<void> {
    // Requests that are on their way come first.
    await pause(20);
    const until = this.time + ms;
    for (;;) {
      const next = [...this.sleepers].sort((a, b) => a.at - b.at)[0];
      if (!next || next.at > until) break;
      this.time = Math.max(this.time, next.at);
      const before = this.sleepers.size;
      next.wake();
      for (let waited = 0; this.sleepers.size < before && waited < ENDED_MS; waited += 2) await pause(2);
    }
    this.time = until;
  }
}
