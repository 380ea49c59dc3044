import { type AnyBulkWriteOperation, type Collection, type Db, type Filter } from 'mongodb';
import { Semaphore } from '#libs/async/semaphore.js';
import { pause } from '#libs/async/pause.js';
import { UnknownCursor } from '#libs/kernel/read-model-store.js';
import { type SendOutcome } from '#libs/stream-log/message-records.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { ENDED_STATUSES, PARTS, type RunHead, type RunState, type RunStatus } from '#libs/workflow-runs/run-state.js';
import {
  applyChanges,
  fieldsOf,
  firstOf,
  type RecordedRun,
  type RunWrite,
  sentText,
} from '#libs/workflow-history/recorded-run.js';
import {
  type ListedRun,
  MOST_COUNTED,
  type RunFilter,
  type RunHistory,
  type RunPage,
  type RunQuery,
  type RunStats,
  type RunSurplus,
} from '#libs/workflow-history/run-history.js';
import { DURABLE } from '../durable.js';
import { ensureIndexes } from '../ensure-indexes.js';
import { repeated } from '../repeated.js';
import { isDuplicateKey } from '../server-errors.js';

interface RunDocument {
  /** Id of the run. */
  readonly _id: string;
  readonly workflow: string;
  readonly workspace: string;
  readonly version: number;
  /** Time of the arrival in fixed width and the id, in the order of lists. */
  readonly place: string;
  readonly state: RunStatus;
  readonly test: boolean;
  /** Type and name. */
  readonly trigger: readonly string[];
  readonly deployed: number | null;
  readonly trace: string;
  readonly replayOf?: string;
  readonly ended: number | null;
  readonly bytes: number;
  readonly words: readonly string[];
  /** JSON texts, but for the end. */
  readonly head: string;
  readonly origin: string;
  readonly end: string | null;
  readonly summaries: string;
}

/** A large text of a run. Lists never read it. */
interface TextDocument {
  /** Run and name of the text. */
  readonly _id: string;
  readonly run: string;
  readonly name: string;
  /** Version of the run that wrote it last, or the order of an outcome. Only a later one may write it again. */
  readonly version: number;
  /** Null for a text that is gone. */
  readonly text: string | null;
}

type Listed = Pick<RunDocument, '_id' | 'workflow' | 'workspace' | 'version' | 'place' | 'head' | 'origin' | 'end'>;
const LISTED = { workflow: 1, workspace: 1, version: 1, place: 1, head: 1, origin: 1, end: 1 } as const;
const STORED = { ...LISTED, summaries: 1 } as const;
/** Names of the outcomes of steps. */
const OUTCOMES = /^step\//;
/** A writer that died between a text and its run leaves them so until the change is applied again. */
const REREADS = 10;
const REREAD_MS = 20;
/** Workflows whose runs are counted at once. */
const COUNTED_AT_ONCE = 4;
/** Runs, or texts, of one request. */
const AT_ONCE = 500;

/** RunHistory in MongoDB: a document for each run, guarded by its version, and one for each of its large texts. */
export class MongoRunHistory implements RunHistory {
  private readonly runs: Collection<RunDocument>;
  private readonly texts: Collection<TextDocument>;

  constructor(db: Db) {
    this.runs = db.collection<RunDocument>('run_history', DURABLE);
    this.texts = db.collection<TextDocument>('run_history_texts', DURABLE);
  }

  /** Idempotent. Call it before the first use. */
  async ensureIndexes(): Promise<void> {
    const order = { place: -1 } as const;
    await ensureIndexes(this.runs, [
      // `stats` and the lists without tests read this index alone to count.
      { name: 'workflow_runs', key: { workflow: 1, ...order, test: 1, state: 1 } },
      { name: 'workspace', key: { workspace: 1, ...order } },
      { name: 'workflow_state', key: { workflow: 1, state: 1, ...order } },
      { name: 'workspace_state', key: { workspace: 1, state: 1, ...order } },
      { name: 'workflow_words', key: { workflow: 1, words: 1, ...order } },
      { name: 'workspace_words', key: { workspace: 1, words: 1, ...order } },
      { name: 'workflow_ended', key: { workflow: 1, ended: -1 } },
      { name: 'workspace_bytes', key: { workspace: 1, bytes: 1 } },
      { name: 'trace', key: { trace: 1 } },
      { name: 'replayed', key: { replayOf: 1 }, sparse: true },
    ]);
    await ensureIndexes(this.texts, [{ name: 'run', key: { run: 1 } }]);
  }

  apply(changes: readonly RunChange[]): Promise<void> {
    return applyChanges({ stored: (ids) => this.stored(ids), write: (writes) => this.write(writes) }, changes);
  }

  async applySends(outcomes: readonly SendOutcome[]): Promise<void> {
    const ids = [...new Set(outcomes.map(({ runId }) => runId))];
    const known = await this.known(ids);
    const sent = outcomes.map(sentText).filter(({ run }) => known.has(run));
    await this.writeTexts(
      sent.map(({ run, name, text, order }) => textDocument({ id: run, version: order }, name, text)),
    );
    // A run may have been removed in the meantime.
    const left = await this.known([...known]);
    const removed = [...known].filter((id) => !left.has(id));
    if (removed.length > 0) await repeated(() => this.texts.deleteMany({ run: { $in: removed } }));
  }

  async page(query: RunQuery): Promise<RunPage> {
    const { after, before, limit } = query;
    const matches = matching(query);
    const ends = [
      ...(after === undefined ? [] : [{ place: { $lt: placeOf(after) } }]),
      ...(before === undefined ? [] : [{ place: { $gt: placeOf(before) } }]),
    ];
    const direction = before !== undefined && after === undefined ? 1 : -1;
    const [total, found] = await Promise.all([
      this.runs.countDocuments(matches, { limit: MOST_COUNTED }),
      this.runs
        .find({ $and: [matches, ...ends] })
        .sort({ place: direction })
        .limit(limit)
        .project<Listed>(LISTED)
        .toArray(),
    ]);
    const runs = found.map((document) => listed(document));
    return { runs: direction === 1 ? runs.reverse() : runs, total };
  }

  stats(workflowIds: readonly string[], since: number): Promise<readonly RunStats[]> {
    const turns = new Semaphore(COUNTED_AT_ONCE);
    return Promise.all(workflowIds.map((workflow) => turns.run(workflow, () => this.statsOf(workflow, since))));
  }

  private async statsOf(workflow: string, since: number): Promise<RunStats> {
    const newest = (within: Filter<RunDocument>) => [
      { $match: { workflow, ...within } },
      { $sort: { place: -1 } },
      { $limit: MOST_COUNTED },
      { $match: { test: false } },
    ];
    const place = [{ $limit: 1 }, { $project: { _id: 0, place: 1 } }];
    const [last] = await this.runs.aggregate<Pick<RunDocument, 'place'>>([...newest({}), ...place]).toArray();
    if (!last) return { lastArrivedAt: null, runs: 0, failed: 0 };
    const count = { $group: { _id: '$state', count: { $sum: 1 } } };
    const recent = newest({ place: { $gte: fixed(since) } });
    const counts = await this.runs.aggregate<{ _id: RunStatus; count: number }>([...recent, count]).toArray();
    const runs = counts.reduce((sum, each) => sum + each.count, 0);
    const failed = counts.find(({ _id }) => _id === 'failed')?.count ?? 0;
    return { lastArrivedAt: Number(last.place.slice(0, FIXED_DIGITS)), runs, failed };
  }

  async find(id: string): Promise<ListedRun | undefined> {
    const found = await this.runs.findOne<Listed>({ _id: id }, { projection: LISTED });
    return found ? listed(found) : undefined;
  }

  /** Reads again while texts are later than the run, whose write follows theirs. */
  async whole(id: string): Promise<ListedRun | undefined> {
    for (let again = REREADS; ; again--) {
      const found = await this.runs.findOne<Listed>({ _id: id }, { projection: LISTED });
      if (!found) return undefined;
      const texts = await this.texts.find({ run: id }).toArray();
      const isTorn = texts.some(({ name, version }) => version > found.version && !PARTS.isSent(name));
      if (isTorn && again > 0) {
        await pause(REREAD_MS);
        continue;
      }
      const parts = texts.flatMap(({ name, text }) => (text === null ? [] : [[name, text] as const]));
      return listed(found, Object.fromEntries(parts));
    }
  }

  async outlines(ids: readonly string[]): Promise<readonly ListedRun[]> {
    const of = { run: { $in: [...ids] } };
    const [found, outcomes, events] = await Promise.all([
      this.runs.find({ _id: { $in: [...ids] } }, { projection: LISTED }).toArray(),
      this.texts.find({ ...of, name: OUTCOMES }).toArray(),
      this.texts.find({ ...of, name: PARTS.event, text: { $ne: null } }, { projection: { run: 1 } }).toArray(),
    ]);
    const texts = new Map<string, Record<string, string>>(ids.map((id) => [id, {}]));
    for (const { run, name, text } of outcomes)
      if (text !== null) Object.assign(texts.get(run) ?? {}, { [name]: text });
    for (const { run } of events) Object.assign(texts.get(run) ?? {}, { [PARTS.event]: '' });
    return found.map((run) => listed(run, texts.get(run._id)));
  }

  async *ids(): AsyncIterable<string> {
    const found = this.runs.find({}, { projection: { _id: 1 } }).sort({ _id: 1 });
    for await (const { _id } of found) yield _id;
  }

  async surplus(of: RunSurplus, limit: number): Promise<readonly string[]> {
    if ('workspaceId' in of) return this.beyondBytes(of, limit);
    const ended = async (since: { $gte: number } | { $lt: number }, skip: number): Promise<readonly string[]> => {
      const found = this.runs.find({ workflow: of.workflowId, ended: since }, { projection: { _id: 1 } });
      return (await found.sort({ ended: -1 }).skip(skip).limit(limit).toArray()).map(({ _id }) => _id);
    };
    const old = await ended({ $lt: of.since }, 0);
    return old.length < limit ? [...old, ...(await ended({ $gte: of.since }, of.runs))].slice(0, limit) : old;
  }

  private async beyondBytes(
    { workspaceId: workspace, bytes }: Extract<RunSurplus, { workspaceId: string }>,
    limit: number,
  ): Promise<readonly string[]> {
    const sum = { $group: { _id: null, bytes: { $sum: '$bytes' } } };
    const [all] = await this.runs.aggregate<{ bytes: number }>([{ $match: { workspace } }, sum]).toArray();
    if (!all || all.bytes <= bytes) return [];
    const found = this.runs.find({ workspace, state: { $in: ENDED_STATUSES } }, { projection: { bytes: 1 } });
    const oldest = await found.sort({ place: 1 }).limit(limit).toArray();
    return firstOf(
      oldest.map(({ _id: id, bytes: size }) => ({ id, bytes: size })),
      all.bytes - bytes,
    );
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE);
      // Without the run nothing finds its texts, so they go first, and a repeat finds what is left.
      await repeated(() => this.texts.deleteMany({ run: { $in: some } }));
      await repeated(() => this.runs.deleteMany({ _id: { $in: some } }));
    }
  }

  private async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = this.runs.find({ _id: { $in: [...ids] } }, { projection: { _id: 1 } });
    return new Set((await found.toArray()).map(({ _id }) => _id));
  }

  private async stored(ids: readonly string[]): Promise<ReadonlyMap<string, RecordedRun>> {
    const found = await this.runs
      .find({ _id: { $in: [...ids] } })
      .project<Listed & Pick<RunDocument, 'summaries'>>(STORED)
      .toArray();
    return new Map(
      found.map((document) => {
        const { _id: id, workflow: workflowId, workspace: workspaceId, version } = document;
        const summaries = JSON.parse(document.summaries) as RecordedRun['summaries'];
        return [id, { id, workflowId, workspaceId, version, state: stateOf(document), summaries }];
      }),
    );
  }

  /** Writes the texts first, so that a run with its version has them. */
  private async write(writes: readonly RunWrite[]): Promise<readonly string[]> {
    await this.writeTexts(
      writes.flatMap(({ run, texts }) => Object.entries(texts).map(([name, text]) => textDocument(run, name, text))),
    );
    try {
      const operations = writes.map(runOperation);
      const { insertedCount, matchedCount } = await repeated(() => this.runs.bulkWrite(operations, UNORDERED));
      if (insertedCount + matchedCount === writes.length) return [];
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    // Another writer was first, or an answer was lost whose write was made.
    const ids = writes.map(({ run }) => run.id);
    const found = await this.runs.find({ _id: { $in: ids } }, { projection: { version: 1 } }).toArray();
    const versions = new Map(found.map(({ _id, version }) => [_id, version]));
    return writes.filter(({ run }) => versions.get(run.id) !== run.version).map(({ run }) => run.id);
  }

  /** Passes over those of which a later version is stored. */
  private async writeTexts(texts: readonly TextDocument[]): Promise<void> {
    if (texts.length === 0) return;
    const operations = texts.map(({ _id, version, ...fields }) => ({
      updateOne: {
        filter: { _id, version: { $lte: version } },
        update: { $set: { ...fields, version } },
        upsert: true,
      },
    }));
    try {
      await repeated(() => this.texts.bulkWrite(operations, UNORDERED));
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // A server may have left out those after the one with a later version.
      if (texts.length > 1) for (const text of texts) await this.writeTexts([text]);
    }
  }
}

const UNORDERED = { ordered: false } as const;

const textDocument = (
  { id, version }: Pick<RecordedRun, 'id' | 'version'>,
  name: string,
  text: string | null,
): TextDocument => ({ _id: `${id}/${name}`, run: id, name, version, text });

/** Writes the run only while it has the version that the write expects. */
const runOperation = ({ expected, run, words }: RunWrite): AnyBulkWriteOperation<RunDocument> => {
  const { id: _id } = run;
  const fields = { ...documentOf(run), ...(words === null ? {} : { words }) };
  return expected === 0
    ? { insertOne: { document: { _id, ...fields, words: words ?? [] } } }
    : { updateOne: { filter: { _id, version: expected }, update: { $set: fields } } };
};

const documentOf = (run: RecordedRun): Omit<RunDocument, '_id' | 'words'> => {
  const { arrivedAt, triggerType, triggerName, workflowVersion, traceId, endedAt, state, test, replayOf, bytes } =
    fieldsOf(run);
  return {
    workflow: run.workflowId,
    workspace: run.workspaceId,
    version: run.version,
    place: `${fixed(arrivedAt)}.${run.id}`,
    state,
    test,
    trigger: [triggerType, ...(triggerName === null ? [] : [triggerName])],
    deployed: workflowVersion,
    trace: traceId,
    ...(replayOf === null ? {} : { replayOf }),
    ended: endedAt,
    bytes,
    head: JSON.stringify(run.state.head),
    origin: run.state.parts[PARTS.origin] ?? '',
    end: run.state.parts[PARTS.end] ?? null,
    summaries: JSON.stringify(run.summaries),
  };
};

const FIXED_DIGITS = 15;
const fixed = (ms: number): string => String(ms).padStart(FIXED_DIGITS, '0');

const PLACE = /^\d{15}\.[\w-]+$/;

const placeOf = (text: string): string => {
  if (!PLACE.test(text)) throw new UnknownCursor(text);
  return text;
};

const matching = ({ of, words = [], ...filter }: RunFilter): Filter<RunDocument> => {
  const { test, states, since, until, trigger, version, traceId, replayOf } = filter;
  return {
    ...('workflowId' in of ? { workflow: of.workflowId } : { workspace: { $in: [...of.workspaceIds] } }),
    ...(test === undefined ? {} : { test }),
    ...(states === undefined ? {} : { state: { $in: [...states] } }),
    ...(trigger === undefined ? {} : { trigger }),
    ...(version === undefined ? {} : { deployed: version }),
    ...(traceId === undefined ? {} : { trace: traceId }),
    ...(replayOf === undefined ? {} : { replayOf }),
    ...(since === undefined && until === undefined ? {} : { place: arrivalWithin(since, until) }),
    // Words have letters and digits only, so a word is a pattern as it is.
    ...(words.length === 0 ? {} : { $and: words.map((word) => ({ words: new RegExp(`^${word}`) })) }),
  };
};

const arrivalWithin = (since: number | undefined, until: number | undefined) => ({
  ...(since === undefined ? {} : { $gte: fixed(since) }),
  ...(until === undefined ? {} : { $lt: fixed(until + 1) }),
});

const stateOf = ({ head, origin, end }: Listed, texts: RunState['parts'] = {}): RunState => ({
  head: JSON.parse(head) as RunHead,
  parts: { [PARTS.origin]: origin, ...(end === null ? {} : { [PARTS.end]: end }), ...texts },
});

const listed = (document: Listed, texts?: RunState['parts']): ListedRun => ({
  id: document._id,
  workflowId: document.workflow,
  workspaceId: document.workspace,
  version: document.version,
  state: stateOf(document, texts),
  place: document.place,
});
