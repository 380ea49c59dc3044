import { pause } from '#libs/async/pause.js';
import { type Db } from 'mongodb';
import { type MonotonicTime } from '../monotonic-time.js';
import { steppedDb, type Around } from './stepped-db.js';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * Time that a spec advances. Sleepers wake one by one, each when no request is in flight. So no time passes for a
 * process that waits for the server, however slow it is.
 */
export class VirtualTime {
  private time = 0;
  private requests = 0;
  private readonly sleepers = new Set<Sleeper>();

  /** The database as seen by processes that live in this time. */
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

  /** The time of one process. After `stop` none of its sleepers wakes. */
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
    await this.quiet();
    const until = this.time + ms;
    for (;;) {
      const next = [...this.sleepers].sort((a, b) => a.at - b.at)[0];
      if (!next || next.at > until) break;
      this.time = Math.max(this.time, next.at);
      next.wake();
      await this.quiet();
    }
    this.time = until;
  }

  /** A follow-up of a request starts in the same turn of the event loop. After two quiet turns every process sleeps. */
  private async quiet(): Promise<void> {
    for (let quiet = 0; quiet < 2;) {
      await pause(1);
      quiet = this.requests === 0 ? quiet + 1 : 0;
    }
  }
}
