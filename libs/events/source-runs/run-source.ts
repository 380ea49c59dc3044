import { Rounds } from '#libs/async/rounds.js';
import { Semaphore } from '#libs/async/semaphore.js';
import {
  areCaughtUp,
  type Asked,
  isCaughtUp,
  type KeptReader,
  type KeptRecords,
  type LiveRecord,
  type Shown,
  shownRecord,
  type StreamSource,
} from '#libs/event-streams/index.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { emitterHeaders } from '#libs/stream-log/envelopes.js';
import { runsOf } from '#libs/stream-log/source-runs.js';
import { projectorGroup } from '#libs/stream-log/stream-projector.js';
import { type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { EMITS, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type KeptEvents } from '../ports.js';
import { eventSummaries } from '../read-models/event-summaries.projection.js';
import { runDoc, type RunDoc, runEndOf, runListOf, runSort, runsOfWorkspace } from '../read-models/run-doc.js';

/** Runs that a stream that resumes shows at most, the newest. */
const MOST_KEPT = 2_000;
const PAGE = 200;
/** Concurrent resumptions of the process and of one user. */
const READS = 4;
const READS_PER_USER = 2;

const NAME = 'invocations';

interface LiveRuns {
  readonly sourceId: string;
  readonly workspaceId: string;
  readonly shown: readonly Shown[];
}

const shownRun = (sourceId: string, { runId, kind, status, ms, emits, startedAt }: RunDoc): Shown =>
  shownRecord(NAME, { at: runEndOf({ startedAt, ms }), id: `${sourceId}/${runId}` }, () =>
    JSON.stringify({ source_id: sourceId, invocation_id: runId, kind, status, ms, emits }),
  );

const liveRunsOf = (record: StoredRecord): LiveRuns | undefined => {
  const headers = emitterHeaders(record);
  if (headers.kind !== 'runs') return undefined;
  const shown = runsOf(record).map((run) => shownRun(headers.emitter, runDoc(headers, run)));
  return { sourceId: headers.emitter, workspaceId: headers.workspace, shown };
};

/** The runs of sources as they end. */
export class RunSource implements StreamSource {
  readonly names = [NAME];
  readonly topics = EMITS;
  private readonly group = projectorGroup(eventSummaries.name);
  private readonly reads = new Semaphore(READS, () => READS_PER_USER);
  private readonly rounds: Rounds<boolean>;

  constructor(
    private readonly log: StreamLog,
    private readonly policy: Pick<TopicPolicy, 'emits'>,
    private readonly readModels: ReadModelStore,
    private readonly settings: Pick<KeptEvents, 'retained'>,
  ) {
    this.rounds = new Rounds(() => areCaughtUp(log, { group: this.group, prefix: EMITS }));
  }

  keyOf({ emitterId, workspaceId }: Asked): string {
    return emitterId ?? workspaceId;
  }

  show(live: LiveRecord, { streams, workspaceId, emitterId }: Asked): readonly Shown[] {
    const runs = streams.has(NAME) ? live.once(liveRunsOf) : undefined;
    if (!runs || runs.workspaceId !== workspaceId) return [];
    return emitterId === undefined || emitterId === runs.sourceId ? runs.shown : [];
  }

  caughtUp({ emitterId }: Asked): Promise<boolean> {
    if (emitterId === undefined) return this.rounds.run();
    return isCaughtUp(this.log, { group: this.group, topic: this.policy.emits(emitterId), key: emitterId });
  }

  kept(asked: Asked, since: number, reader: KeptReader): Promise<KeptRecords> {
    return this.reads.run(reader.userId, () => this.read(asked, since, reader));
  }

  private async read({ emitterId, workspaceId }: Asked, since: number, reader: KeptReader): Promise<KeptRecords> {
    const where =
      emitterId === undefined ? { workspaceId: runsOfWorkspace(workspaceId) } : { list: runListOf(emitterId) };
    const docs: RunDoc[] = [];
    for (let after: string | undefined; docs.length < MOST_KEPT && !reader.isOver();) {
      const page = { where, from: runSort(Math.max(0, since), ''), limit: PAGE, withTotal: false };
      const query = after === undefined ? page : { ...page, after };
      const { docs: next } = await this.readModels.page<RunDoc>(eventSummaries, query);
      docs.push(...next);
      after = next.at(-1)?.id;
      if (next.length < PAGE) break;
    }
    const gap = Math.max(keptFrom(docs, this.settings.retained), docs.length < MOST_KEPT ? 0 : endOfLast(docs));
    return { ...(gap === 0 ? {} : { gap }), records: oldestFirst(docs) };
  }
}

/**
 * Time from which on all of these are kept, newest first; 0 where no source has as many as are kept at least. Of more, those
 * between them and older ones may be left out while the older ones are still there.
 */
const keptFrom = (docs: readonly RunDoc[], kept: number): number => {
  const counts = new Map<string, number>();
  let from = 0;
  for (const doc of docs) {
    const count = (counts.get(doc.list) ?? 0) + 1;
    counts.set(doc.list, count);
    if (count === kept) from = Math.max(from, runEndOf(doc));
  }
  return from;
};

const endOfLast = (docs: readonly RunDoc[]): number => {
  const last = docs.at(-1);
  return last ? runEndOf(last) : 0;
};

/** Encodes each when it is asked for. */
async function* oldestFirst(docs: readonly RunDoc[]): AsyncGenerator<Shown> {
  for (const doc of [...docs].reverse()) yield Promise.resolve(shownRun(doc.list.slice(runListOf('').length), doc));
}
