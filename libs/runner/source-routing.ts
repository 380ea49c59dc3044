import { pause } from '#libs/async/pause.js';
import { type DelayHeaders, type EmitHeaders, type RecordOf } from '#libs/stream-log/envelopes.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';

export type EmitRecord = RecordOf<EmitHeaders>;

export const isEmit = (record: RecordOf<EmitHeaders | DelayHeaders>): record is EmitRecord =>
  record.headers.kind === 'emit';

/** Routes emits within the commit of their run (docs/adr/0049-routing-at-the-commit.md). */
export interface CommitRouting {
  /** Whether the router has routed every emit of the source that is in the log. */
  isIdle(sourceId: string): boolean;
  /** Begins a commit. Resolves soon. Undefined means that the router must route all of its emits. */
  begin(): Promise<CommitRoutes | undefined>;
}

/** The emits of one commit. */
export interface CommitRoutes {
  /**
   * Returns the records to commit for an emit: the emit itself, marked as routed, and those of its listeners. Undefined
   * means that the router must route it, and every later emit of the source until it has.
   */
  route(emit: EmitRecord): readonly LogRecord[] | undefined;
  /** Call once the commit is durable. */
  committed(): void;
}

/** Longest wait of a commit for the router, and how often one waits. Without it a busy source is never idle. */
const CATCH_UP = { ms: 50, lookMs: 2, everyMs: 1_000 };

/**
 * Decides which emits of one source are routed in its commits. A listener gets the emits of a source in order, so a
 * commit routes none while the router still has an earlier one.
 */
export class SourceRouting {
  /** Whether the router has no emit of the source left. */
  private caughtUp = false;
  private waitedAt = -Infinity;

  constructor(
    private readonly sourceId: string,
    private readonly routing: CommitRouting | undefined,
  ) {}

  /** Call for each commit, once the previous one is durable or refused. */
  async begin(): Promise<CommitRoutes | undefined> {
    const { routing } = this;
    if (!routing) return undefined;
    this.caughtUp ||= await this.catchUp(routing);
    const routes = this.caughtUp ? await routing.begin() : undefined;
    this.caughtUp = routes !== undefined;
    if (!routes) return undefined;
    return {
      route: (emit) => {
        const records = this.caughtUp ? routes.route(emit) : undefined;
        this.caughtUp = records !== undefined;
        return records;
      },
      committed: () => routes.committed(),
    };
  }

  private async catchUp(routing: CommitRouting): Promise<boolean> {
    if (routing.isIdle(this.sourceId)) return true;
    const start = performance.now();
    if (start - this.waitedAt < CATCH_UP.everyMs) return false;
    this.waitedAt = start;
    while (performance.now() - start < CATCH_UP.ms) {
      await pause(CATCH_UP.lookMs);
      if (routing.isIdle(this.sourceId)) return true;
    }
    return false;
  }
}
