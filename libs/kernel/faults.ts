/** A fault that has not ended. */
interface Open {
  readonly text: string;
  readonly fields: object;
  readonly since: number;
  readonly timer: NodeJS.Timeout;
  lastAt: number;
  times: number;
}

export interface FaultsOptions {
  /** Writes one line. */
  readonly say: (text: string, fields: object) => void;
  /** A fault that was not met for this many milliseconds is over. Default: 15 s. */
  readonly quietMs?: number;
  /** Monotonic, in ms. */
  readonly now?: () => number;
}

const QUIET_MS = 15_000;
/** Most faults that are reported at a time. Each has its own cause, such as a broker or a group. */
const MOST = 100;

/** An id of a resource or process (ids.ts). */
const ID = /\b[a-z]+_0[a-z0-9]{8,}/g;

/**
 * Reports each fault when it begins, and again when it is over, with its duration and how often it was met. Failures
 * with the same cause are one fault. Causes that differ by ids only count as the same, so that an engine's fault is not
 * reported for each source that meets it.
 */
export class Faults {
  private readonly open = new Map<string, Open>();
  private readonly quietMs: number;
  private readonly now: () => number;
  private isClosed = false;

  constructor(private readonly options: FaultsOptions) {
    this.quietMs = options.quietMs ?? QUIET_MS;
    this.now = options.now ?? ((): number => performance.now());
  }

  /** Reports the fault unless it is already known. */
  met(of: string, text: string, fields: object = {}): void {
    if (this.isClosed) return;
    const cause = causeOf(of);
    const now = this.now();
    const known = this.open.get(cause);
    if (known) {
      known.lastAt = now;
      known.times++;
      return;
    }
    if (this.open.size >= MOST) return;
    const timer = setInterval(() => this.review(cause), this.quietMs);
    timer.unref();
    this.open.set(cause, { text, fields, since: now, lastAt: now, times: 1, timer });
    this.options.say(text, fields);
  }

  /** Reports that the fault is over, if there was one. Idempotent. */
  over(of: string): void {
    const cause = causeOf(of);
    const known = this.open.get(cause);
    if (!known) return;
    this.drop(cause, known);
    const ms = Math.round(known.lastAt - known.since);
    this.options.say(`over: ${known.text}`, { ...known.fields, ms, times: known.times });
  }

  /** Once set, no fault is reported. */
  close(): void {
    this.isClosed = true;
    for (const [cause, known] of this.open) this.drop(cause, known);
  }

  private review(cause: string): void {
    const known = this.open.get(cause);
    if (known && this.now() - known.lastAt >= this.quietMs) this.over(cause);
  }

  private drop(cause: string, { timer }: Open): void {
    clearInterval(timer);
    this.open.delete(cause);
  }
}

const causeOf = (of: string): string => of.replaceAll(ID, '_');
