import { type DedupeStrategy } from '#libs/component-model/dedupe-strategy.js';
import { rememberedId } from './dedupe-memory.js';
import { type DedupeCache } from './dedupe-cache.js';

/** Number of ids that the `unique` strategy remembers per channel (docs/reference/limits.md#dedupe-unique). */
export const UNIQUE_CACHE_IDS = 100;

interface Identified {
  readonly id?: string | number;
}

export interface DedupeResult<T> {
  readonly passed: readonly T[];
  readonly duplicates: number;
  /** Undefined when there is nothing new to remember. */
  readonly cache: DedupeCache | undefined;
  /** Warnings for the author (missing or non-numeric ids). */
  readonly warnings: readonly string[];
}

/**
 * Applies a strategy to one channel's emits, sorted by `ts` (docs/reference/component-model.md#emit-order). A cache of
 * another strategy counts as empty. An emit without an id passes, with a warning.
 */
export const dedupe = <T extends Identified>(
  strategy: DedupeStrategy,
  cache: DedupeCache | undefined,
  emits: readonly T[],
): DedupeResult<T> => {
  switch (strategy) {
    case 'unique':
      return unique(cache?.strategy === 'unique' ? cache.ids : [], emits);
    case 'greatest':
      return greatest(cache?.strategy === 'greatest' ? cache.max : Number.NEGATIVE_INFINITY, emits);
    case 'last':
      return last(cache?.strategy === 'last' ? cache.id : undefined, emits);
  }
};

const missing = (count: number): string[] =>
  count === 0
    ? []
    : [
        `${count} event(s) were emitted without an id, which the dedupe strategy needs: not deduplicated. Pass { id } as the second argument of $emit`,
      ];

/** Remembers ids first in, first out. A hit does not refresh its place. An id that the batch repeats is a duplicate. */
const unique = <T extends Identified>(known: readonly string[], emits: readonly T[]): DedupeResult<T> => {
  const ids = new Set(known);
  const passed: T[] = [];
  let without = 0;
  let learned = false;
  for (const emit of emits) {
    if (emit.id === undefined) {
      without++;
      passed.push(emit);
      continue;
    }
    const id = rememberedId(String(emit.id));
    if (ids.has(id)) continue;
    ids.add(id);
    learned = true;
    if (ids.size > UNIQUE_CACHE_IDS) ids.delete(ids.values().next().value as string);
    passed.push(emit);
  }
  return {
    passed,
    duplicates: emits.length - passed.length,
    cache: learned ? { strategy: 'unique', ids: [...ids] } : undefined,
    warnings: missing(without),
  };
};

/** Compares the ids one by one and raises the maximum each time, so that an increasing batch passes whole. */
const greatest = <T extends Identified>(known: number, emits: readonly T[]): DedupeResult<T> => {
  const passed: T[] = [];
  const invalid: string[] = [];
  let max = known;
  let without = 0;
  for (const emit of emits) {
    if (emit.id === undefined) {
      without++;
      passed.push(emit);
      continue;
    }
    const id = Number(emit.id);
    if (Number.isNaN(id)) invalid.push(String(emit.id));
    else if (id > max) {
      max = id;
      passed.push(emit);
    }
  }
  return {
    passed,
    duplicates: emits.length - passed.length - invalid.length,
    cache: max > known ? { strategy: 'greatest', max } : undefined,
    warnings: [
      ...missing(without),
      ...(invalid.length === 0
        ? []
        : [
            `${invalid.length} event(s) dropped: dedupe "greatest" needs numeric ids, got ${JSON.stringify(invalid[0]?.slice(0, 100))}. Pass a number, or use dedupe "unique"`,
          ]),
    ],
  };
};

/** Passes the emits after the cached id in the batch, or all when the batch lacks it. */
const last = <T extends Identified>(known: string | undefined, emits: readonly T[]): DedupeResult<T> => {
  const at = emits.findLastIndex((emit) => emit.id !== undefined && rememberedId(String(emit.id)) === known);
  const passed = emits.filter((emit, index) => index > at || emit.id === undefined);
  const newest = passed.findLast((emit) => emit.id !== undefined)?.id;
  return {
    passed,
    duplicates: emits.length - passed.length,
    cache: newest === undefined ? undefined : { strategy: 'last', id: rememberedId(String(newest)) },
    warnings: missing(emits.filter((emit) => emit.id === undefined).length),
  };
};
