import { pause } from '#libs/async/pause.js';
import { type DelayHeaders, type EmitHeaders, type RecordOf } from '#libs/stream-log/envelopes.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';

export type EmitRecord = RecordOf<EmitHeaders>;

export const isEmit = (record: RecordOf<EmitHeaders | DelayHeaders>): record is EmitRecord =>
  record.headers.kind === 'emit';

/** Routes emits within the commit that brings them (docs/adr/0049-routing-at-the-commit.md). */
export interface CommitRouting {
  /** Whether the router has routed every emit of the source that is in the log. */
  isIdle(sourceId: string): boolean;
  /** Begins a commit. Resolves soon. Undefined: the router must route all of its emits. */
  begin(): Promise<CommitRoutes | undefined>;
}

/** The emits of one commit. */
export interface CommitRoutes {
  /**
   * The records to be committed for an emit: it, marked as routed, and those of its listeners. Undefined: the router must
   * route it, and every later emit of the source until it has.
   */
  route(emit: EmitRecord): readonly LogRecord[] | undefined;
  /** Call once the commit is durable. */
  committed(): void;
}

/** How long a commit may wait for the router, and how often. A source with many events a second is never idle by itself. */
const CATCH_UP = { ms: 50, lookMs: 2, everyMs: 1_000 };

/**
 * Decides for the commits of one source which emits are routed in them. A listener gets the emits of a source in their
 * order, so none is routed in a commit while the router still has an earlier one.
 */
export class SourceRouting {
  /** Whether every emit that is not marked has been routed. */
  private caughtUp = false;
  private waitedAt = -Infinity;

  constructor(
    private readonly sourceId: string,
    private readonly routing: CommitRouting | undefined,
  ) {}

  /** Call for each commit, once the one before it is durable or refused. */
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
