import { pause } from '#libs/async/pause.js';
import { REPLIES } from '#libs/ingress/reply-records.js';
import { asError } from '#libs/kernel/error-message.js';
import { type ProcessRegistry } from '#libs/kernel/process-registry.js';

/** How long a process is remembered after its last report. No caller waits this long for a hook. */
const KEPT_MS = 60 * 60_000;
/** Interval at which the registry is read. A hook starts at once when its caller is already known. */
const LOOK_MS = 2_000;

interface Seen {
  /** Uptime of that process minus the time here. */
  readonly ahead: number;
  readonly at: number;
}

/**
 * Uptime of the processes that await answers, by their own clocks: the last value in the registry, plus the time since.
 */
export class LiveCallers {
  private readonly seen = new Map<string, Seen>();
  private readonly abort = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly registry: Pick<ProcessRegistry, 'live'>,
    /** Monotonic, in ms. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Undefined for an address that was not in the registry yet. */
  uptimeOf(address: string): number | undefined {
    if (!address.startsWith(REPLIES)) return undefined;
    const seen = this.seen.get(address.slice(REPLIES.length));
    return seen && this.now() + seen.ahead;
  }

  /** Reads the registry regularly. Reports a failure to the caller and continues. */
  follow(onFailure: (error: Error) => void): void {
    this.running = this.run(onFailure);
  }

  async close(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  /** Reads the live processes. Rejects when the registry cannot be read. */
  async look(): Promise<void> {
    const live = await this.registry.live();
    const at = this.now();
    for (const { id, uptimeMs } of live) {
      // A report is some time old when it is read, so the newest one is the most precise.
      const ahead = Math.max(uptimeMs - at, this.seen.get(id)?.ahead ?? -Infinity);
      this.seen.set(id, { ahead, at });
    }
    for (const [id, seen] of this.seen) if (at - seen.at > KEPT_MS) this.seen.delete(id);
  }

  /** Never rejects. */
  private async run(onFailure: (error: Error) => void): Promise<void> {
    const { signal } = this.abort;
    while (!signal.aborted) {
      await this.look().catch((error: unknown) => onFailure(asError(error)));
      await pause(LOOK_MS, signal);
    }
  }
}
