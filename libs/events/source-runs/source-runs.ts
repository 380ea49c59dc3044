import { Inject, Injectable } from '@nestjs/common';
import { isCaughtUp } from '#libs/event-streams/index.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { isIdOf } from '#libs/kernel/ids.js';
import { LOGS_CHANNEL } from '#libs/component-model/channels.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { type SourceRun } from '#libs/stream-log/source-runs.js';
import { projectorGroup } from '#libs/stream-log/stream-projector.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { EVENT_SETTINGS, type EventSettings, RUNS_UNDER_WAY, type RunsUnderWay, type UnfinishedRun } from '../ports.js';
import { type EventDoc, eventSummaries, familyOf } from '../read-models/event-summaries.projection.js';
import { runDocId, runListOf, runSort, type RunDoc } from '../read-models/run-doc.js';
import { isRunKind, type RunFilter, type RunKind, type RunStatus } from './run-filter.js';
import { waitingRuns } from './waiting-runs.js';

/** A run in the list of its source. */
export type ShownRun = Omit<SourceRun, 'kind' | 'status' | 'startedAt' | 'ms'> & {
  readonly kind: RunKind;
  readonly status: RunStatus;
  readonly startedAt: number | null;
  readonly ms: number | null;
  /** Its place in the list. */
  readonly sort: string;
};

/** Most runs of a source that are listed. */
const MOST_RUNS = 1_000;
/** Most kept events of one run that are shown, and most lines. */
const MOST_LEFT = 1_000;
/** How long a list waits for the read model, so that it has the runs that have just ended. */
const LIST_WAIT_MS = 300;

/** The runs of sources: those that ended, from the read model, and those that have not, from the log. */
@Injectable()
export class SourceRuns {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(STREAM_LOG) private readonly log: StreamLog,
    @Inject(TOPIC_POLICY) private readonly topics: TopicPolicy,
    @Inject(EVENT_SETTINGS) private readonly settings: EventSettings,
    @Inject(RUNS_UNDER_WAY) private readonly underWay: RunsUnderWay,
  ) {}

  /** Returns the runs that the filter selects, newest first. */
  async newest(sourceId: string, filter: RunFilter): Promise<readonly ShownRun[]> {
    // Read first, because a run that ends in the meantime is then found among those that ended.
    const unfinished = await this.unfinished(sourceId);
    await this.caughtUp(sourceId, LIST_WAIT_MS);
    const most = Math.min(this.settings.retained, MOST_RUNS);
    const { docs } = await this.readModels.page<RunDoc>(eventSummaries, {
      where: { list: runListOf(sourceId) },
      limit: most,
      withTotal: false,
    });
    const runs = new Map(docs.flatMap(shownRun).map((run) => [run.id, run]));
    // Runs start in the order of their arrival. So one that was queued before all that are listed has ended, and left.
    const oldest = docs.length < most ? -Infinity : Math.min(...docs.map(({ queuedAt }) => queuedAt));
    for (const run of unfinished)
      if (!runs.has(run.id) && (run.status === 'running' || run.queuedAt > oldest)) runs.set(run.id, run);
    return [...runs.values()].filter((run) => isSelected(run, filter)).sort((a, b) => (a.sort < b.sort ? 1 : -1));
  }

  /** Undefined for a run that is unknown or no longer kept. */
  async find(sourceId: string, runId: string): Promise<ShownRun | undefined> {
    if (!isIdOf('inv', runId)) return undefined;
    const kept = await this.kept(sourceId, runId);
    if (kept) return kept;
    const unfinished = (await this.unfinished(sourceId)).find(({ id }) => id === runId);
    // It may have ended between both reads.
    await this.caughtUp(sourceId);
    return (await this.kept(sourceId, runId)) ?? unfinished;
  }

  /** Returns what a run left and what is kept of it, oldest first: its events and its log lines. */
  async leftBy(
    sourceId: string,
    run: ShownRun,
  ): Promise<{ readonly emits: readonly EventDoc[]; readonly logs: readonly EventDoc[] }> {
    const range = idsOf(run);
    if (!range) return { emits: [], logs: [] };
    const [emits, logs] = await Promise.all(
      ['', LOGS_CHANNEL].map(async (channel) => {
        const where = { family: familyOf(sourceId, channel) };
        const query = { where, ...range, limit: MOST_LEFT, withTotal: false };
        const { docs } = await this.readModels.page<EventDoc>(eventSummaries, query);
        return [...docs].reverse();
      }),
    );
    return { emits: emits ?? [], logs: logs ?? [] };
  }

  private async kept(sourceId: string, runId: string): Promise<ShownRun | undefined> {
    const doc = await this.readModels.get<RunDoc>(eventSummaries, runDocId(sourceId, runId));
    return doc && shownRun(doc)[0];
  }

  private async unfinished(sourceId: string): Promise<readonly ShownRun[]> {
    const here = await this.underWay.unfinished(sourceId);
    const waiting = await waitingRuns({ log: this.log, topics: this.topics }, sourceId, here?.through);
    return [...(here?.runs ?? []), ...waiting].flatMap(unfinishedRun);
  }

  private caughtUp(sourceId: string, withinMs?: number): Promise<boolean> {
    const group = projectorGroup(eventSummaries.name);
    return isCaughtUp(this.log, { group, topic: this.topics.emits(sourceId), key: sourceId }, withinMs);
  }
}

const shownRun = ({ runId, kind, ...run }: RunDoc): readonly ShownRun[] =>
  isRunKind(kind) ? [{ ...run, id: runId, kind, sort: runSort(run.queuedAt, runId) }] : [];

const unfinishedRun = ({ id, kind, queuedAt, startedAt }: UnfinishedRun): readonly ShownRun[] => {
  if (!isRunKind(kind)) return [];
  const status = startedAt === null ? 'queued' : 'running';
  const nothing = { emits: 0, delayed: 0, logs: 0, httpStatus: null, firstEvent: '', error: null };
  const attempts = startedAt === null ? 0 : 1;
  return [{ id, kind, status, queuedAt, startedAt, ms: null, ...nothing, attempts, sort: runSort(queuedAt, id) }];
};

const isSelected = ({ status, kind, queuedAt }: ShownRun, filter: RunFilter): boolean =>
  (filter.statuses?.includes(status) ?? true) &&
  (filter.kinds?.includes(kind) ?? true) &&
  queuedAt >= (filter.since ?? -Infinity) &&
  queuedAt <= (filter.until ?? Infinity);

/** Sorts of the first and last event that a run left on any channel. */
const idsOf = (run: ShownRun): { readonly from: string; readonly to: string } | undefined => {
  const from = sortableEventId(run.firstEvent);
  const [ms, sequence] = run.firstEvent.split('-').map(Number);
  if (from === undefined || ms === undefined || sequence === undefined) return undefined;
  const events = run.emits + run.logs + (run.error ? 1 : 0);
  const to = sortableEventId(`${ms}-${sequence + events - 1}`);
  return to === undefined ? undefined : { from, to };
};
