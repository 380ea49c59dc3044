import { type SendOutcome } from '#libs/stream-log/message-records.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { originOf, PARTS, type RunState, runErrorOf, type RunStatus } from '#libs/workflow-runs/run-state.js';
import { wordsOf } from './search-words.js';

/** What the history stores of a run beside its large texts. */
export interface RecordedRun {
  readonly id: string;
  readonly workflowId: string;
  readonly workspaceId: string;
  /** Version of the last change that it has. */
  readonly version: number;
  /** Its head, and of its parts the origin and the end. */
  readonly state: RunState;
  /** `$summary` of each step that has one, as it is searched. */
  readonly summaries: Readonly<Record<string, string>>;
}

/** A run that changes, with what a store must write. */
export interface RunWrite {
  /** Version that the store must have; 0 for a new run. */
  readonly expected: number;
  readonly run: RecordedRun;
  /** Changed texts by name; null for one that is gone. */
  readonly texts: Readonly<Record<string, string | null>>;
  /** Null when they have not changed. */
  readonly words: readonly string[] | null;
}

/** What a store looks runs up by. */
export interface RunFields {
  readonly state: RunStatus;
  readonly test: boolean;
  readonly arrivedAt: number;
  readonly endedAt: number | null;
  readonly triggerType: string;
  readonly triggerName: string | null;
  readonly workflowVersion: number | null;
  readonly traceId: string;
  readonly replayOf: string | null;
  /** Bytes that the run counts towards the limit of its workspace. */
  readonly bytes: number;
}

/** Parts that are stored with the run, because lists show them. */
const LISTED: ReadonlySet<string> = new Set([PARTS.origin, PARTS.end]);
/** Approximate bytes that a run occupies beside its parts, for its head, columns, words and indexes. */
const OVERHEAD_BYTES = 2_048;
/** Approximate bytes of what became of a message, which counts before it is known. */
const MESSAGE_BYTES = 768;
const SUMMARY_CHARS = 1_024;
/** Characters of the reason of a run's exit that lists read. The whole text is among the large ones. */
const REASON_CHARS = 4_096;
const EXPORTS = PARTS.exports('');

export const fieldsOf = ({ state }: RecordedRun): RunFields => {
  const { arrivedAt, test, trigger, traceId, replayOf } = originOf(state);
  const { status, endedAt, version, bytes, messages = 0 } = state.head;
  return {
    state: status,
    test,
    arrivedAt,
    endedAt,
    triggerType: trigger.type,
    triggerName: trigger.name,
    workflowVersion: version?.version ?? null,
    traceId,
    replayOf,
    bytes: bytes + OVERHEAD_BYTES + messages * MESSAGE_BYTES,
  };
};

/**
 * Applies changes to the runs that a store has, by id. Returns one write for each run that they change. Changes that a run
 * has are passed over, and so are later changes of a run that the store does not have.
 */
export const foldChanges = (
  stored: ReadonlyMap<string, RecordedRun>,
  changes: readonly RunChange[],
): readonly RunWrite[] => {
  const writes = new Map<string, Omit<RunWrite, 'words'>>();
  for (const change of changes) {
    const { runId: id } = change;
    const before = writes.get(id);
    const known = before?.run ?? stored.get(id);
    if (known ? change.version <= known.version : !(PARTS.origin in change.parts)) continue;
    writes.set(id, {
      expected: before?.expected ?? known?.version ?? 0,
      run: changed(known, change),
      texts: { ...before?.texts, ...largeTexts(change) },
    });
  }
  return [...writes.values()].map((write) => ({ ...write, words: newWords(stored.get(write.run.id), write.run) }));
};

const newWords = (before: RecordedRun | undefined, after: RecordedRun): readonly string[] | null => {
  const text = searchedText(after);
  return before && searchedText(before) === text ? null : wordsOf(text);
};

const largeTexts = (change: RunChange): RunChange['parts'] =>
  Object.fromEntries(
    Object.entries(change.parts).filter(([name, text]) => !LISTED.has(name) || text !== listedText(change, name, text)),
  );

/** The text of a part as lists read it. */
const listedText = ({ head }: RunChange, name: string, text: string | null): string | null =>
  name === PARTS.end && head.status === 'exited' && text !== null ? text.slice(0, REASON_CHARS) : text;

const changed = (before: RecordedRun | undefined, change: RunChange): RecordedRun => {
  const { runId: id, workflowId, workspaceId, version, head } = change;
  const parts: Record<string, string> = { ...before?.state.parts };
  const summaries: Record<string, string> = { ...before?.summaries };
  for (const [name, given] of Object.entries(change.parts)) {
    const text = listedText(change, name, given);
    if (LISTED.has(name)) {
      if (text === null) delete parts[name];
      else parts[name] = text;
    } else if (name.startsWith(EXPORTS)) {
      const summary = text === null ? undefined : summaryIn(text);
      if (summary === undefined) delete summaries[name.slice(EXPORTS.length)];
      else summaries[name.slice(EXPORTS.length)] = summary;
    }
  }
  return { id, workflowId, workspaceId, version, state: { head, parts }, summaries };
};

/** Parses the exports of a step only when they may have a summary. */
const summaryIn = (exports: string): string | undefined => {
  if (!exports.includes('"$summary"')) return undefined;
  const { $summary: summary } = JSON.parse(exports) as { readonly $summary?: unknown };
  if (summary === undefined || summary === null) return undefined;
  return (typeof summary === 'string' ? summary : JSON.stringify(summary)).slice(0, SUMMARY_CHARS);
};

/** The text in which `q` looks for words. */
const searchedText = ({ id, state, summaries }: RecordedRun): string => {
  const error = runErrorOf(state);
  const end = error ? `${error.name} ${error.code} ${error.message}` : (state.parts[PARTS.end] ?? '');
  return [id, originOf(state).trigger.name ?? '', ...Object.values(summaries), end].join(' ');
};

/** What became of a message, as a text of its run. */
export interface SentText {
  readonly run: string;
  readonly name: string;
  readonly text: string;
  /** Only a text with the same order or a later one may replace it. */
  readonly order: number;
}

/** Above the attempts at any message. */
const MOST_ATTEMPTS = 1_000;

/** A step has one text for each place among its messages, so a run that repeats a step many times does not grow. */
export const sentText = (outcome: SendOutcome): SentText => {
  const { runId: run, namespace, execution, index, id, state, attempts, status, error } = outcome;
  const order = execution * MOST_ATTEMPTS + attempts;
  const text = JSON.stringify({ order, id, state, attempts, status, error });
  return { run, name: PARTS.sent(namespace, index), text, order };
};

export interface SizedRun {
  readonly id: string;
  readonly bytes: number;
}

/** Ids of the first runs that together have at least these bytes, or of all. */
export const firstOf = (runs: readonly SizedRun[], bytes: number): readonly string[] => {
  let sum = 0;
  const last = runs.findIndex((run) => (sum += run.bytes) >= bytes);
  return (last === -1 ? runs : runs.slice(0, last + 1)).map(({ id }) => id);
};

/** Reads and writes of a store that guards each run by its version. */
export interface GuardedRuns {
  stored(ids: readonly string[]): Promise<ReadonlyMap<string, RecordedRun>>;
  /** Resolves with the ids of the runs that had another version, and were not written. */
  write(writes: readonly RunWrite[]): Promise<readonly string[]>;
}

/** Applies changes until every run has them, whoever else writes the same runs. */
export const applyChanges = async (runs: GuardedRuns, changes: readonly RunChange[]): Promise<void> => {
  for (let left = changes; left.length > 0;) {
    const ids = [...new Set(left.map(({ runId }) => runId))];
    const writes = foldChanges(await runs.stored(ids), left);
    const overtaken = new Set(writes.length > 0 ? await runs.write(writes) : []);
    left = left.filter(({ runId }) => overtaken.has(runId));
  }
};
