import { REPLIES } from '#libs/ingress/reply-records.js';
import { type ProcessRegistry, type ProcessReport } from '#libs/kernel/process-registry.js';

/** How long a process is remembered after its last report. No caller waits this long for a hook. */
const KEPT_MS = 60 * 60_000;

interface Seen {
  /** Uptime of that process minus the time here. */
  readonly ahead: number;
  readonly at: number;
}

/**
 * How long the processes that await answers have run, by their own clocks: what this process last saw in the registry,
 * and the time since then.
 */
export class LiveCallers {
  private readonly seen = new Map<string, Seen>();

  constructor(
    private readonly registry: Pick<ProcessRegistry, 'live'>,
    /** Monotonic, in ms. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Undefined for the address of a process that this one has not seen, and of one that does not tell its uptime. */
  uptimeOf(address: string): number | undefined {
    if (!address.startsWith(REPLIES)) return undefined;
    const seen = this.seen.get(address.slice(REPLIES.length));
    return seen && this.now() + seen.ahead;
  }

  /** Reads which processes live. */
  readonly live = async (): Promise<readonly ProcessReport[]> => {
    const live = await this.registry.live();
    const at = this.now();
    for (const { id, uptimeMs } of live) {
      if (uptimeMs === undefined) continue;
      // A report is some time old when it is read. The newest one tells most.
      const ahead = Math.max(uptimeMs - at, this.seen.get(id)?.ahead ?? -Infinity);
      this.seen.set(id, { ahead, at });
    }
    for (const [id, seen] of this.seen) if (at - seen.at > KEPT_MS) this.seen.delete(id);
    return live;
  };

  /** Sees the processes of now. Rejects when the registry cannot be read. */
  async look(): Promise<void> {
    await this.live();
  }
}
