import { Inject, Injectable } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { creationSort, creationSortOf } from '#libs/kernel/ids.js';
import { type Page, type PageQuery, type ReadModelStore, UnknownCursor } from '#libs/kernel/read-model-store.js';
import { hasPart } from '#libs/kernel/text-search.js';
import { CLOCK, READ_MODELS } from '#libs/kernel/tokens.js';
import { deployedSource } from '../domain/source.js';
import {
  type KnownSourceStates,
  SOURCE_COUNTS,
  SOURCE_STATES,
  type SourceCounts,
  type SourceCountsReader,
  TIMER_SCHEDULES,
  type TimerSchedules,
} from '../ports.js';
import { SOURCES, type SourceDoc } from '../read-models/sources.projection.js';
import { type SourceStats } from '../source-reply.js';
import { type SourceFilterDto } from './source-filter.dto.js';

/** A source of the workspace, as far as a list is ordered and searched by it. */
interface Candidate {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  /** Order of creation. */
  readonly created: string;
}
type Counted = Candidate & { readonly counts: SourceCounts };

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Lists of a workspace's sources that are searched or ordered otherwise than by creation. */
@Injectable()
export class SelectedSources {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(SOURCE_STATES) private readonly known: KnownSourceStates,
    @Inject(SOURCE_COUNTS) private readonly counts: SourceCountsReader,
    @Inject(TIMER_SCHEDULES) private readonly schedules: TimerSchedules,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Throws UnknownCursor. */
  async page(
    workspaceId: string,
    filter: SourceFilterDto,
    { limit, after, before }: Omit<PageQuery, 'where'>,
  ): Promise<Page<SourceDoc>> {
    const ids = await this.ordered(this.candidates(workspaceId, filter), filter);
    const isByCreation = (filter.sort ?? 'created') === 'created';
    const placeOf = (cursor: string): { readonly at: number; readonly found: boolean } => {
      const at = ids.findIndex(({ id }) => id === cursor);
      const created = isByCreation && at === -1 ? creationSortOf('dc')(cursor) : undefined;
      if (at === -1 && created === undefined) throw new UnknownCursor(cursor);
      if (created === undefined) return { at, found: true };
      // A source that is deleted has its place still.
      const next = ids.findIndex((other) => newestFirst(other, { id: cursor, created }) > 0);
      return { at: next === -1 ? ids.length : next, found: false };
    };
    const end = before === undefined ? ids.length : placeOf(before).at;
    const from = after === undefined ? undefined : placeOf(after);
    const start = from ? from.at + (from.found ? 1 : 0) : before === undefined ? 0 : Math.max(0, end - limit);
    const page = ids.slice(start, Math.min(end, start + limit)).map(({ id }) => id);
    const docs = await this.readModels.getMany<SourceDoc>(SOURCES, page);
    return { docs: docs.filter((doc) => doc !== undefined), total: ids.length };
  }

  /** Returns the stats of sources, in the order of their ids. */
  async stats(sourceIds: readonly string[]): Promise<readonly SourceStats[]> {
    const now = this.clock.now();
    const counts = await this.counts(sourceIds, now);
    return sourceIds.map((id, i) => {
      const { lastEventAt = null, lastErrorAt = null, events = 0, errors = 0 } = counts[i] ?? {};
      return {
        last_event_at: lastEventAt,
        last_error_at: lastErrorAt,
        next_run_at: this.nextRunAt(id, now),
        events_24h: events,
        errors_24h: errors,
      };
    });
  }

  private candidates(workspaceId: string, { q, active, state }: SourceFilterDto): readonly Candidate[] {
    const part = q?.toLowerCase();
    const found: Candidate[] = [];
    for (const [id, row] of this.known.states()) {
      if (row.workspaceId !== workspaceId) continue;
      const source = deployedSource(row.state);
      if (!source || (active !== undefined && source.active !== active)) continue;
      if (state === 'silent' && !source.active) continue;
      if (part !== undefined && !hasPart(source.name.toLowerCase(), part)) continue;
      const created = creationSortOf('dc')(id) ?? creationSort(source.createdAt);
      found.push({ id, name: source.name, active: source.active, created });
    }
    return found;
  }

  private async ordered(
    candidates: readonly Candidate[],
    { state, sort = 'created' }: SourceFilterDto,
  ): Promise<readonly Candidate[]> {
    if (state === undefined && sort === 'created') return [...candidates].sort(newestFirst);
    if (state === undefined && sort === 'name') return [...candidates].sort(byName);
    const now = this.clock.now();
    const counts = await this.counts(
      candidates.map(({ id }) => id),
      now,
    );
    const counted = candidates.flatMap((candidate, i): readonly Counted[] => {
      const own = counts[i];
      return own && isIn(state, own, now) ? [{ ...candidate, counts: own }] : [];
    });
    return counted.sort(ORDERS[sort]);
  }

  private nextRunAt(sourceId: string, now: number): number | null {
    const armed = this.known.armed(sourceId);
    const next = (armed?.timers ?? []).flatMap((timer) => this.schedules.next(timer, armed?.since ?? now, now) ?? []);
    return next.length === 0 ? null : Math.min(...next);
  }
}

const isIn = (state: SourceFilterDto['state'], { lastEventAt, lastErrorAt }: SourceCounts, now: number): boolean => {
  const isRecent = (at: number | null): boolean => at !== null && at >= now - DAY_MS;
  if (state === undefined) return true;
  return state === 'failing' ? isRecent(lastErrorAt) : !isRecent(lastEventAt);
};

const newestFirst = (a: Pick<Candidate, 'id' | 'created'>, b: Pick<Candidate, 'id' | 'created'>): number =>
  compared(b.created, a.created) || compared(b.id, a.id);
const byName = (a: Candidate, b: Candidate): number =>
  compared(a.name.toLowerCase(), b.name.toLowerCase()) || newestFirst(a, b);
const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const ORDERS: Readonly<Record<NonNullable<SourceFilterDto['sort']>, (a: Counted, b: Counted) => number>> = {
  created: newestFirst,
  name: byName,
  last_event: (a, b) => (b.counts.lastEventAt ?? 0) - (a.counts.lastEventAt ?? 0) || newestFirst(a, b),
  errors: (a, b) => b.counts.errors - a.counts.errors || newestFirst(a, b),
};
