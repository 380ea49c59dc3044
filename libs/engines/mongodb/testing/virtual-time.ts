import { setTimeout as pause } from 'node:timers/promises';
import { type Db } from 'mongodb';
import { type MonotonicTime } from '../monotonic-time.js';
import { steppedDb, type Around } from './stepped-db.js';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * Time that passes when a spec says so. Sleepers wake one after the other, each when no request is under way any more:
 * however slow the server, nobody's time goes by while he waits for it.
 */
export class VirtualTime {
  private time = 0;
  private requests = 0;
  private readonly sleepers = new Set<Sleeper>();

  /** The database as those see it who live in this time. */
  db(real: Db, around: Around = (_step, act) => act()): Db {
    return steppedDb(real, async (step, act) => {
      this.requests++;
      try {
        return await around(step, act);
      } finally {
        this.requests--;
      }
    });
  }

  /** As one process has it. After `stop` nothing of that process wakes again. */
  process(): MonotonicTime & { stop(): void } {
    const mine = new Set<Sleeper>();
    let stopped = false;
    return {
      now: () => this.time,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (stopped) return;
          if (signal.aborted) {
            resolve();
            return;
          }
          const end = (): void => {
            this.sleepers.delete(sleeper);
            mine.delete(sleeper);
            signal.removeEventListener('abort', end);
            resolve();
          };
          const sleeper = { at: this.time + ms, wake: end };
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
    await this.settled();
    const until = this.time + ms;
    for (;;) {
      const next = [...this.sleepers].sort((a, b) => a.at - b.at)[0];
      if (!next || next.at > until) break;
      this.time = Math.max(this.time, next.at);
      next.wake();
      await this.settled();
    }
    this.time = until;
  }

  /** What follows a request begins in the same turn of the event loop: two quiet turns, and everybody sleeps. */
  private async settled(): Promise<void> {
    for (let quiet = 0; quiet < 2;) {
      await pause(1);
      quiet = this.requests === 0 ? quiet + 1 : 0;
    }
  }
}
