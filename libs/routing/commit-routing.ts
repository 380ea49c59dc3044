import { endsWithin } from '#libs/async/deadline.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type FreshTables } from '#libs/kernel/table-freshness.js';
import { type EmitHeaders, type RecordOf } from '#libs/stream-log/envelopes.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { countRouted, type EmitRouter, noRouterMetrics, type RouterMetrics } from './emit-router.js';
import { Examination } from './event-filter.js';
import { type Routed } from './route-emit.js';

/** Most records for listeners, of one emit and of all emits of a commit. The router routes what exceeds them. */
const MOST_OF_EMIT = 16;
const MOST_OF_COMMIT = 256;
/** UTF-16 units of the values of all records for listeners in a commit. */
const MOST_TEXT = 1 << 20;
/** How long a commit waits for a comparison of the table with the event log. */
const COMPARED_MS = 20;

export interface CommitRoutingOptions {
  readonly emits: EmitRouter;
  readonly tables: Pick<FreshTables, 'heldNow' | 'holdAnswered'>;
  readonly clock: Clock;
  /** Number of emits in a source's own lane that are not routed. */
  readonly unroutedOf: (sourceId: string) => number;
  readonly metrics: RouterMetrics;
}

/**
 * Routes emits within the commit of the run that made them, in a process that both runs sources and routes
 * (docs/adr/0049-routing-at-the-commit.md). It leaves the other cases to the router: a table that may be stale, a full
 * listener, a wide fan-out, a loop, costly filters, and emits at the limit of hops.
 */
export class CommitRouting {
  constructor(private readonly options: CommitRoutingOptions) {}

  /** Whether the router has routed everything that is in the source's lane. */
  isIdle(sourceId: string): boolean {
    return this.options.unroutedOf(sourceId) === 0;
  }

  /**
   * Begins a commit. Returns undefined while the table may lack a subscription, because the router can wait longer for
   * it.
   */
  async begin(): Promise<CommitRoutes | undefined> {
    const position = this.options.tables.heldNow() ?? (await this.comparedSoon());
    return position === undefined ? undefined : new CommitRoutes(this.options, position);
  }

  /** The first event after an idle second finds no comparison of the table with the log, so it waits for one. */
  private async comparedSoon(): Promise<Position | undefined> {
    const { tables } = this.options;
    let isOver = false;
    await endsWithin(
      tables.holdAnswered(() => isOver),
      COMPARED_MS,
    );
    isOver = true;
    return tables.heldNow();
  }
}

export class CommitRoutes {
  private records = 0;
  private text = 0;
  private readonly counts = noRouterMetrics();

  constructor(
    private readonly options: CommitRoutingOptions,
    private readonly position: Position,
  ) {}

  /** Returns the emit, marked as routed, and the records of its listeners; undefined when the router must route it. */
  route(record: RecordOf<EmitHeaders>): readonly LogRecord[] | undefined {
    const { emits, clock } = this.options;
    try {
      const routed = emits.route(record, clock.now(), new Examination(record.value));
      const { records } = routed;
      if (!isPlain(routed) || !this.hasRoomFor(records)) return undefined;
      this.counts.emits++;
      for (const each of records) countRouted(this.counts, each);
      return [{ ...record, headers: { ...record.headers, routed: this.position } }, ...records];
    } catch {
      // The router logs and counts such an emit.
      return undefined;
    }
  }

  /** Call once the commit is durable. */
  committed(): void {
    const { metrics } = this.options;
    const { emits, invocations, deliveries } = this.counts;
    metrics.emits += emits;
    metrics.invocations += invocations;
    metrics.deliveries += deliveries;
  }

  private hasRoomFor(records: readonly LogRecord[]): boolean {
    if (records.length > MOST_OF_EMIT) return false;
    this.records += records.length;
    for (const { value } of records) this.text += value.length;
    return this.records <= MOST_OF_COMMIT && this.text <= MOST_TEXT;
  }
}

const isPlain = ({ hopLimited, givenUp, heldFor, isUnexamined }: Routed): boolean =>
  !hopLimited && givenUp.length === 0 && heldFor === undefined && isUnexamined !== true;
