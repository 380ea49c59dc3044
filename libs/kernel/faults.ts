/** A fault that goes on. */
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
  /** A fault that was not told for this long is over, in milliseconds. Default: 15 s. */
  readonly quietMs?: number;
  /** Monotonic, in ms. */
  readonly now?: () => number;
}

const QUIET_MS = 15_000;
/** Faults that go on at once. Each has a cause of its own, such as a broker or a group; more of them say nothing more. */
const MOST = 100;

/** An id of a resource or process (ids.ts). */
const ID = /\b[a-z]+_0[a-z0-9]{8,}/g;

/**
 * Says each fault once, when it begins, and once more when it is over, with how long it lasted and how often it was met.
 * A fault is known by its cause: what fails because of the same cause is the same fault, whatever failed. Causes that
 * differ by ids only are one, so that a fault of an engine is not said for each source that meets it.
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

  /** The fault was met. Says so unless it is known. */
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

  /** Says that the fault is over, if there was one. Idempotent. */
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
