import { type Clock, systemClock } from './clock.js';

/** A server's time, and the monotonic times of this process right before and after it was read. All in milliseconds. */
export interface TimeReading {
  readonly askedAt: number;
  readonly answeredAt: number;
  /** Epoch milliseconds. */
  readonly time: number;
}

/** How the wall clock of a process differs from the common one. */
export interface ClockSkew {
  /** Milliseconds by which the wall clock of this process is ahead. Undefined before the first reading. */
  skewMs(): number | undefined;
}

/**
 * The clock that the processes of an installation share: the time of a server that all of them use, read now and then
 * and carried on by the monotonic clock in between. Neither a wrong wall clock of a machine nor one that is set while
 * the process runs moves it, and it goes on while the server is away (docs/adr/0011-roles-as-processes.md).
 *
 * Each reading bounds the server's time, which lies between the request and the answer. The clock moves only as far as
 * the bounds demand. A slow reading, during which the process or the server was stopped, therefore changes nothing. The
 * next quick reading corrects the error of a slow first one.
 */
export class CommonClock implements Clock, ClockSkew {
  /** Epoch milliseconds minus monotonic time. */
  private offset: number | undefined;

  constructor(
    private readonly own: Clock = systemClock,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** Returns the wall clock of this process until the first reading. */
  now(): number {
    return this.offset === undefined ? this.own.now() : Math.floor(this.monotonic() + this.offset);
  }

  skewMs(): number | undefined {
    return this.offset === undefined ? undefined : this.own.now() - this.now();
  }

  /** Reads the server's time with `ask`. Rejects as it does. */
  async read(ask: () => Promise<number>): Promise<void> {
    const askedAt = this.monotonic();
    const time = await ask();
    this.add({ askedAt, answeredAt: this.monotonic(), time });
  }

  add({ askedAt, answeredAt, time }: TimeReading): void {
    const earliest = time - answeredAt;
    // The server's time has whole milliseconds.
    const latest = time + 1 - askedAt;
    const known = this.offset ?? (earliest + latest) / 2;
    this.offset = Math.min(Math.max(known, earliest), latest);
  }
}
