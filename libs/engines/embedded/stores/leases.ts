import { type Lease, type Leases } from '#libs/kernel/leases.js';
import { type Clock } from '#libs/kernel/clock.js';

/** Leases among the parts of one process. An owner that does not release its lease ends with the process. */
export class EmbeddedLeases implements Leases {
  private readonly held = new Map<string, Promise<void>>();
  private lastToken = 0;

  constructor(private readonly clock: Clock) {}

  async acquire(name: string, signal: AbortSignal, onHeldElsewhere?: () => void): Promise<Lease | undefined> {
    const abort = aborted(signal);
    while (!signal.aborted) {
      const released = this.held.get(name);
      if (!released) return this.hold(name);
      onHeldElsewhere?.();
      await Promise.race([released, abort]);
    }
    return undefined;
  }

  private hold(name: string): Lease {
    // The clock orders the token after those of the previous process.
    const token = (this.lastToken = Math.max(this.lastToken + 1, this.clock.now()));
    let free: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      free = resolve;
    });
    this.held.set(name, released);
    return {
      name,
      token,
      lost: new AbortController().signal,
      release: () => {
        if (this.held.get(name) === released) this.held.delete(name);
        free();
        return Promise.resolve();
      },
    };
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
