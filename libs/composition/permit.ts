import { WakeablePause } from '#libs/async/pause.js';
import { type Lease, type Leases } from '#libs/kernel/leases.js';

const LOOK_MS = 1_000;

/**
 * Stands for a lease that any number of processes hold at once, each for as long as `may` is true. It is looked at once a
 * second, and at each `changed`.
 */
export class Permit implements Pick<Leases, 'acquire'> {
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly may: () => boolean,
    private readonly lookMs = LOOK_MS,
  ) {}

  changed(): void {
    for (const wake of this.waiting) wake();
  }

  async acquire(name: string, signal: AbortSignal): Promise<Lease | undefined> {
    await this.until(() => this.may(), signal);
    if (signal.aborted) return undefined;
    const lost = new AbortController();
    const released = new AbortController();
    const watching = this.until(() => !this.may(), released.signal).then(() => {
      if (!released.signal.aborted) lost.abort();
    });
    const release = async (): Promise<void> => {
      released.abort();
      await watching;
    };
    return { name, token: 0, lost: lost.signal, release };
  }

  /** Never rejects. */
  private async until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    const asleep = new WakeablePause();
    const wake = (): void => asleep.wake();
    this.waiting.add(wake);
    signal.addEventListener('abort', wake);
    while (!signal.aborted && !condition()) await asleep.wait(this.lookMs);
    signal.removeEventListener('abort', wake);
    this.waiting.delete(wake);
  }
}
