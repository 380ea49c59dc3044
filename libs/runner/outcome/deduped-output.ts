import { type DedupeStrategy } from '#libs/component-model/dedupe-strategy.js';
import { type EmitCall, type LogLine } from '#libs/component-model/run-output.js';
import { dictionary } from '#libs/kernel/dictionary.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { dedupe } from './dedupe.js';
import { type DedupeCache } from './dedupe-cache.js';
import { channelsToForget, DEDUPE_LIMITS } from './dedupe-memory.js';

export interface DedupeContext {
  /** Null for a component without deduplication, and for a sample. */
  readonly strategy: DedupeStrategy | null;
  readonly caches: Readonly<Record<string, DedupeCache>>;
}

export interface DedupedOutput {
  /** The emits that are events, in their order. */
  readonly passed: readonly EmitCall[];
  /** The others, which are duplicates or have no usable id. */
  readonly dropped: readonly EmitCall[];
  readonly lines: readonly LogLine[];
  readonly duplicates: number;
  /** Changed dedupe caches by channel; null for a forgotten one. */
  readonly changed: Readonly<Record<string, DedupeCache | null>>;
  /** All dedupe caches after the run. */
  readonly caches: Readonly<Record<string, DedupeCache>>;
}

/** Kind of the lines with the platform's notes on deduplication. */
export const DEDUPE_NOTE = 'dedupe';

/**
 * Sorts the emits of an outcome by `ts` and deduplicates them per channel. Its log lines are followed by notes on what
 * was dropped (docs/reference/component-model.md#log-order).
 */
export const dedupedOutput = (
  { emits, logs, endedAt }: Pick<RunOutcome, 'emits' | 'logs' | 'endedAt'>,
  context: DedupeContext,
): DedupedOutput => {
  // Oldest first. Those without `ts` count as now and keep their order.
  const { warnings, ...deduped } = dedupeByChannel(inOrderOfTs(emits, endedAt), context);
  const { duplicates } = deduped;
  const notes = [...warnings, ...(duplicates > 0 ? [`${duplicates} duplicate event(s) dropped`] : [])];
  const lines = notes.length === 0 ? logs : [...logs, ...notes.map((msg) => ({ k: DEDUPE_NOTE, ts: endedAt, msg }))];
  return { ...deduped, lines };
};

const inOrderOfTs = (emits: readonly EmitCall[], now: number): readonly EmitCall[] =>
  emits.some((emit) => emit.ts !== undefined) ? [...emits].sort((a, b) => (a.ts ?? now) - (b.ts ?? now)) : emits;

type Deduped = Omit<DedupedOutput, 'lines'> & { readonly warnings: readonly string[] };

const dedupeByChannel = (emits: readonly EmitCall[], { strategy, caches }: DedupeContext): Deduped => {
  if (strategy === null || emits.length === 0)
    return { passed: emits, dropped: [], changed: {}, caches, duplicates: 0, warnings: [] };
  const channels = new Map<string, EmitCall[]>();
  for (const emit of emits) {
    const list = channels.get(emit.channel);
    if (list) list.push(emit);
    else channels.set(emit.channel, [emit]);
  }
  const kept = new Set<EmitCall>();
  const changed = dictionary<DedupeCache | null>();
  const after = dictionary(caches);
  const warnings: string[] = [];
  let duplicates = 0;
  for (const [channel, list] of channels) {
    const result = dedupe(strategy, after[channel], list);
    for (const emit of result.passed) kept.add(emit);
    if (result.cache) {
      // Moves the channel to the end, because the channels at the front are forgotten first.
      delete after[channel];
      after[channel] = result.cache;
      changed[channel] = result.cache;
    }
    duplicates += result.duplicates;
    warnings.push(...result.warnings);
  }
  const forgotten = channelsToForget(after);
  for (const channel of forgotten) {
    delete after[channel];
    changed[channel] = null;
  }
  if (forgotten.length > 0)
    warnings.push(
      `the ids of ${forgotten.length} channel(s) were forgotten: a source remembers at most ${DEDUPE_LIMITS.channels} channels and ${DEDUPE_LIMITS.bytes} bytes`,
    );
  const passed = emits.filter((emit) => kept.has(emit));
  const dropped = passed.length === emits.length ? [] : emits.filter((emit) => !kept.has(emit));
  return { passed, dropped, changed, caches: after, duplicates, warnings };
};
