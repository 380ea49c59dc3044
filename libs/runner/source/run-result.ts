import { type DelayHeaders, type EmitHeaders, type EventParts, type RecordOf } from '#libs/stream-log/envelopes.js';
import { DELAYED_CHANNEL, ERRORS_CHANNEL, LOGS_CHANNEL } from '#libs/component-model/channels.js';
import { bytesAbove, RECORD_BYTES } from '#libs/stream-log/record-limits.js';
import { type DedupeStrategy } from '#libs/component-model/dedupe-strategy.js';
import { dedupedOutput } from '../outcome/deduped-output.js';
import { emitIds } from '#libs/stream-log/emit-ids.js';
import { type EventIds } from '#libs/stream-log/event-ids.js';
import { faultId } from '#libs/stream-log/fault-ids.js';
import { type DedupeCache } from '../outcome/dedupe-cache.js';
import { type EmitRecord } from '../source-routing.js';
import { causesOf, type EmitCall, type LogLine, type UserError } from '#libs/component-model/run-output.js';
import { type HookName } from '#libs/component-model/hooks.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { type SourceDefinition } from '#libs/sources/published.js';

/** One execution of a source's code: an invocation, or a hook. */
export interface Execution {
  /** Invocation id, or an id that was made for the hook. */
  readonly id: string;
  /** Epoch milliseconds of the invocation, the same on a repeat. Absent without an invocation. */
  readonly at?: number | undefined;
  readonly sourceId: string;
  readonly componentId: string;
  readonly workspaceId: string;
  /** Returns the JSON text of the event that `run` received, for the event of an error. `null` for a hook. */
  readonly event: () => string;
  readonly hops: number;
  readonly hook?: HookName;
  /** False for a deploy hook with `emit_on_deploy: false`, whose emits are dropped. */
  readonly emits: boolean;
  /** Set when it emits a sample event, which is marked and not deduplicated. */
  readonly test?: true;
  /** Emit id of the delayed event that it emits. Such an event was deduplicated when the source emitted it. */
  readonly released?: string;
  /** Invocation that the records name. Absent for the execution itself. */
  readonly emittedBy?: string;
  /** Set when a replay passed the event on again. */
  readonly replay?: true;
  /** Set when no list keeps the events of the execution. */
  readonly nostore?: true;
  /** Set when no listener gets the events of the execution. */
  readonly notrigger?: true;
}

export const noEvent = (): string => 'null';

/** Makes the execution of a source's code with the event `null`. */
export const executionOf = (
  sourceId: string,
  id: string,
  { componentId }: SourceDefinition,
  workspaceId: string,
  at?: number,
): Execution => ({ id, at, sourceId, componentId, workspaceId, event: noEvent, hops: 0, emits: true });

export interface RunResult {
  /** Records for the emitter's topic, in order. Built when read, so that many can take several turns. Read once. */
  readonly records: Iterable<EmitRecord | RecordOf<DelayHeaders>>;
  /** Changed dedupe caches by channel; null for a forgotten one. */
  readonly dedupe: Readonly<Record<string, DedupeCache | null>>;
  /** All dedupe caches after the run. */
  readonly caches: Readonly<Record<string, DedupeCache>>;
  readonly emitted: number;
  readonly duplicates: number;
  /** The emits that are no events. */
  readonly dropped: readonly EmitCall[];
}

export interface RunResultContext {
  readonly topic: string;
  readonly strategy: DedupeStrategy | null;
  readonly caches: Readonly<Record<string, DedupeCache>>;
  readonly eventIds: EventIds;
}

/**
 * Returns the records of an execution, even of one that threw: its emits, sorted by `ts` and deduplicated per channel,
 * its log lines, and its error (docs/reference/component-model.md#log-order). Pure, except that it advances event ids.
 */
export const runResult = (execution: Execution, outcome: RunOutcome, context: RunResultContext): RunResult => {
  // 1. Sort and deduplicate the emits, and collect the log lines.
  const isTaken = execution.test === true || execution.released !== undefined;
  const emits = execution.emits ? outcome.emits : [];
  const { logs, endedAt } = outcome;
  const { strategy, caches } = context;
  const output = dedupedOutput({ emits, logs, endedAt }, { strategy: isTaken ? null : strategy, caches });

  // 2. Add the error, in short on $logs and in full on $errors.
  const { passed, dropped, lines, changed, duplicates } = output;
  const records = recordsOf(execution, outcome, passed, lines, context);
  return { records, dedupe: changed, caches: output.caches, emitted: passed.length, duplicates, dropped };
};

function* recordsOf(
  execution: Execution,
  outcome: RunOutcome,
  emits: readonly EmitCall[],
  lines: readonly LogLine[],
  { topic, eventIds }: RunResultContext,
): RunResult['records'] {
  const { error, startedAt, endedAt } = outcome;
  const nextEmitId = emitIds(execution.id, execution.at ?? startedAt);
  const hops = String(execution.hops);
  let index = 0;
  const switches = {
    ...(execution.nostore === true ? { nostore: '1' as const } : {}),
    ...(execution.notrigger === true ? { notrigger: '1' as const } : {}),
  };
  const common = (channel: string) => ({
    id: eventIds.next(endedAt),
    emitter: execution.sourceId,
    workspace: execution.workspaceId,
    channel,
    emit: execution.released ?? nextEmitId(index++),
    hops,
    invocation: execution.emittedBy ?? execution.id,
    ...switches,
  });
  const recordWith = <H extends EmitHeaders | DelayHeaders>(headers: H, value: string) => ({
    topic,
    key: execution.sourceId,
    headers,
    value,
  });
  const record = (channel: string, value: string, parts: Partial<EmitHeaders> = {}): EmitRecord =>
    recordWith({ kind: 'emit', ...common(channel), ...parts }, value);
  for (const emit of emits) {
    const { channel, payload, deliverAt } = emit;
    const parts = partsOf(emit, execution.test);
    if (deliverAt === undefined || deliverAt <= endedAt) yield record(channel, payload, parts);
    else {
      const waits = { out: channel, deliver: String(Math.ceil(deliverAt)) };
      yield recordWith({ kind: 'delay', ...common(DELAYED_CHANNEL), ...parts, ...waits }, payload);
    }
  }
  if (execution.hook) yield record(LOGS_CHANNEL, JSON.stringify({ k: 'hook', ts: startedAt, h: execution.hook }));
  for (const line of lines) yield record(LOGS_CHANNEL, JSON.stringify(line));
  if (!error) return;
  const { name, message, stack } = error;
  yield record(LOGS_CHANNEL, JSON.stringify({ k: 'error', ts: endedAt, err: { name, message, stack } }));
  yield record(ERRORS_CHANNEL, errorEvent(execution, error, endedAt), { fault: faultId(name, message) });
}

const partsOf = ({ id, summary, ts }: EmitCall, test?: true): EventParts => ({
  // JSON keeps the type of the id: a number stays a number in `metadata.id`.
  ...(id === undefined ? {} : { dedupe: JSON.stringify(id) }),
  ...(summary === undefined ? {} : { summary }),
  ...(ts === undefined ? {} : { ts: String(ts) }),
  ...(test === true ? { test: '1' } : {}),
});

/** Makes the JSON of a source error (docs/reference/component-model.md#error-event) around the event's own text. */
const errorEvent = (execution: Execution, error: UserError, at: number): string => {
  const context = {
    id: execution.id,
    ts: new Date(at).toISOString(),
    source_id: execution.sourceId,
    component_id: execution.componentId,
    owner_id: execution.workspaceId,
    ...(execution.hook ? { hook: execution.hook } : {}),
    ...(execution.replay === true ? { replay: true } : {}),
  };
  const { code, name, message, stack } = error;
  const detail = { code, name, message, ts: new Date(at).toISOString(), stack, ...causesOf(error) };
  const rest = `"original_context":${JSON.stringify(context)},"error":${JSON.stringify(detail)}}`;
  const event = execution.event();
  const whole = `{"original_event":${event},${rest}`;
  if (bytesAbove(whole, RECORD_BYTES) === undefined) return whole;
  // Each listener of errors adds its own error, so after many of them the original event would be too large to pass on.
  return `{"original_event":null,"original_event_bytes":${Buffer.byteLength(event)},${rest}`;
};
