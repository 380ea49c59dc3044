import { type LogLine } from '#libs/component-model/run-output.js';
import { type LiveRecord, type StreamFrame } from '#libs/event-streams/index.js';
import { isLines, type LiveLines } from '#libs/stream-log/line-records.js';
import { isOutcome } from '#libs/stream-log/message-records.js';
import { type LogRecord, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { truncateJson } from '#libs/http/truncate-event.js';
import { type ItemOutcome, LOOP_PARTS } from '#libs/workflow-runs/loop-state.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { stepIdOf } from '#libs/workflow-runs/run-plan.js';
import { stepRecords } from '#libs/workflow-runs/run-record.js';
import { PARTS, type RunState, runErrorOf } from '#libs/workflow-runs/run-state.js';
import { type StepOutcome } from '#libs/workflow-runs/step-outcome.js';
import { type ListedRun } from '../run-history.js';
import { listedRunRecord, type Shown, SHORT_BYTES, stepRecord, wholeRunRecord } from '../run-reply.js';
import { ToldLines } from './told-lines.js';

type NameOf = (workflowId: string) => string;

const block = (event: 'run' | 'step' | 'log', data: unknown): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

const logBlock = (namespace: string, line: LogLine): string => block('log', { namespace, ...line });

/** Texts that compare as their numbers do. */
const sortOf = (n: number): string => String(n).padStart(16, '0');

/** Undefined for what became of a message, which no stream shows, and for a record that this server did not write. */
const changeIn = ({ headers, value }: LogRecord): RunChange | undefined =>
  isOutcome({ headers }) || isLines({ headers }) ? undefined : read<RunChange>(value);

const linesIn = ({ headers, value }: LogRecord): LiveLines | undefined =>
  isLines({ headers }) ? read<LiveLines>(value) : undefined;

const read = <T>(value: string): T | undefined => {
  try {
    return JSON.parse(value) as T;
  } catch {
    // The history reports it.
    return undefined;
  }
};

/** The run as lists show it, of a change of its status. */
const runIn = ({ workflowId, origin, head, parts }: RunChange, nameOf: NameOf): string => {
  if (!origin) return '';
  const end = parts[PARTS.end];
  const shown = {
    [PARTS.origin]: JSON.stringify(origin),
    ...(typeof end === 'string' ? { [PARTS.end]: end } : {}),
  };
  const state = { head, parts: shown };
  const namespace = runErrorOf(state)?.namespace ?? null;
  const steps = namespace === null ? [] : [{ namespace, id: stepIdOf(workflowId, namespace) }];
  return block('run', listedRunRecord({ state }, { steps: { steps }, workflowName: nameOf(workflowId) }));
};

/** Shows each change of the status of a workflow's runs. */
export const runsShown = (nameOf: NameOf): ((live: LiveRecord) => StreamFrame | undefined) => {
  const frameOf = (record: StoredRecord): StreamFrame | undefined => {
    const change = changeIn(record);
    const text = change ? runIn(change, nameOf) : '';
    return text === '' ? undefined : { sort: sortOf(record.offset), frame: Buffer.from(text) };
  };
  return (live) => live.once(frameOf);
};

const STEP = PARTS.step('');
const RESUME = PARTS.resumeData('');

/** Namespaces of the steps whose records a change may alter. */
const stepsIn = ({ head, parts }: RunChange): ReadonlySet<string> => {
  const changed = Object.keys(parts).flatMap((name) => {
    const prefix = [STEP, RESUME].find((each) => name.startsWith(each));
    return prefix === undefined ? [] : [name.slice(prefix.length)];
  });
  return new Set([...changed, ...(head.position ? [head.position.namespace] : [])]);
};

/** The lines of a step, or of the items of a loop, that a change has, without those that were told before. */
const newLines = ({ parts }: RunChange, namespace: string, told: ToldLines): readonly LogLine[] => {
  const logs = parts[PARTS.logs(namespace)];
  const all = typeof logs === 'string' ? (JSON.parse(logs) as LogLine[]) : [];
  const ofStep = PARTS.step(namespace) in parts ? told.rest(namespace, null, all) : all;
  const prefix = LOOP_PARTS.items(namespace);
  const items = Object.entries(parts).flatMap(([name, text]) => {
    if (text === null || !name.startsWith(prefix)) return [];
    return told.rest(namespace, Number(name.slice(prefix.length)), (JSON.parse(text) as ItemOutcome).logs);
  });
  return [...ofStep, ...items];
};

/** The outcome without its items, which no stream shows. */
const withoutItems = (text: string): string =>
  JSON.stringify({ ...(JSON.parse(text) as StepOutcome), items: undefined });

const partsOfStep = (namespace: string): readonly string[] => [
  PARTS.step(namespace),
  PARTS.exports(namespace),
  PARTS.props(namespace),
  PARTS.logs(namespace),
  PARTS.resumeData(namespace),
];

/**
 * What a stream shows of one run. Between changes it keeps only the step at which the run is, with shortened values,
 * because no other step changes.
 */
export class ShownRun {
  private kept: Readonly<Record<string, string>> = {};
  /** Names of the kept parts that are shortened. */
  private shortened: ReadonlySet<string> = new Set();
  /** The last step record that was sent. */
  private sent = '';
  /** Latest version of the run that the stream knows. */
  private version = 0;
  private hasBegun = false;
  private readonly told = new ToldLines();

  constructor(
    private readonly runId: string,
    private readonly nameOf: NameOf,
  ) {}

  /** The run and its steps so far. Later changes follow it. */
  begin({ version, state }: ListedRun, shown: Shown): StreamFrame {
    this.version = Math.max(version, this.version);
    this.hasBegun = true;
    const { steps } = wholeRunRecord({ state }, shown, false);
    const begun = steps.filter((step) => step.state !== 'pending');
    const run = block('run', listedRunRecord({ state }, shown));
    const texts = inOrder(
      state,
      run,
      begun.map((step) => block('step', step)),
    );
    const namespace = state.head.position?.namespace;
    // A change that came meanwhile is newer.
    if (namespace !== undefined) this.keep(namespace, { ...state.parts, ...this.kept });
    return frame(version, texts, state);
  }

  show = (live: LiveRecord): StreamFrame | undefined => {
    const lines = live.once(linesIn);
    if (lines) return this.linesOf(lines, live.record.offset);
    const change = live.once(changeIn);
    if (change?.runId !== this.runId) return undefined;
    this.version = Math.max(change.version, this.version);
    // Nothing but the start of an execution that was lost.
    if (Object.keys(change.parts).length === 0) this.told.forget();
    const steps = [...stepsIn(change)].flatMap((namespace) => this.stepIn(change, namespace));
    const run = runIn(change, this.nameOf);
    const texts = inOrder(change, run, steps);
    return texts.join('') === '' ? undefined : frame(change.version, texts, change);
  };

  /** Lines come between two changes. Before the stream has begun they are left to the outcome. */
  private linesOf(lines: LiveLines, offset: number): StreamFrame | undefined {
    if (lines.runId !== this.runId || !this.hasBegun) return undefined;
    const texts = this.told.tell(lines).map((line) => logBlock(lines.namespace, line));
    if (texts.length === 0) return undefined;
    return { sort: `${sortOf(this.version)}.${sortOf(offset)}`, frame: Buffer.from(texts.join('')) };
  }

  private stepIn(change: RunChange, namespace: string): readonly string[] {
    const { workflowId, head } = change;
    const parts = this.partsAfter(change, namespace);
    const plan = { steps: [{ namespace, id: stepIdOf(workflowId, namespace) }] };
    const [whole] = stepRecords(plan, { head: { ...head, loop: undefined }, parts });
    if (!whole) return [];
    const lines = newLines(change, namespace, this.told);
    const isShortened = [...this.shortened].some((name) => name in parts && !(name in change.parts));
    const text = block('step', { ...stepRecord(whole, false), ...(isShortened ? { truncated: true } : {}) });
    if (namespace === head.position?.namespace) this.keep(namespace, parts);
    const isSent = this.sent === text;
    this.sent = text;
    return [...lines.map((line) => logBlock(namespace, line)), ...(isSent ? [] : [text])];
  }

  private partsAfter({ parts }: RunChange, namespace: string): Readonly<Record<string, string>> {
    const after: Record<string, string> = {};
    for (const name of [...partsOfStep(namespace), PARTS.end]) {
      const text = name in parts ? parts[name] : this.kept[name];
      if (typeof text === 'string') after[name] = name === PARTS.step(namespace) ? withoutItems(text) : text;
    }
    return after;
  }

  private keep(namespace: string, parts: RunState['parts']): void {
    const kept: Record<string, string> = {};
    const shortened = new Set<string>();
    for (const name of partsOfStep(namespace)) {
      const text = parts[name];
      if (text === undefined) continue;
      // All fields of an outcome are needed, and they are small.
      const short = name === PARTS.step(namespace) ? { text, truncated: false } : truncateJson(text, SHORT_BYTES);
      kept[name] = short.text;
      if (short.truncated || (this.kept[name] === short.text && this.shortened.has(name))) shortened.add(name);
    }
    this.kept = kept;
    this.shortened = shortened;
  }
}

/** The final run comes last. */
const inOrder = ({ head }: Pick<RunState, 'head'>, run: string, steps: readonly string[]): readonly string[] =>
  head.endedAt === null ? [run, ...steps] : [...steps, run];

const frame = (version: number, texts: readonly string[], { head }: Pick<RunState, 'head'>): StreamFrame => ({
  sort: sortOf(version),
  frame: Buffer.from(texts.join('')),
  ...(head.endedAt === null ? {} : { isLast: true }),
});
