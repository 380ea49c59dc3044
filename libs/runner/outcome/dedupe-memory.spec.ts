import { describe, expect, it } from '@jest/globals';
import { type DedupeStrategy } from '#libs/component-model/dedupe-strategy.js';
import { dedupe } from './dedupe.js';
import { channelsToForget, DEDUPE_LIMITS, rememberedId } from './dedupe-memory.js';
import { EventIds } from '#libs/stream-log/event-ids.js';
import { type DedupeCache } from './dedupe-cache.js';
import { noEvent, runResult } from '../source/run-result.js';
import { ok } from '../source/testing/fake-sandbox.js';

const long = (n: number): string => `${n}-${'i'.repeat(8_000)}`;
const bytesOf = (caches: Readonly<Record<string, DedupeCache>>): number =>
  Buffer.byteLength(JSON.stringify(Object.entries(caches)));

describe('the memory of dedupe', () => {
  it('holds a digest of a long id, which dedupes as the id does', () => {
    expect(rememberedId('short')).toBe('short');
    expect(rememberedId(long(1))).toHaveLength(50);
    for (const strategy of ['unique', 'last'] as DedupeStrategy[]) {
      const first = dedupe(strategy, undefined, [{ id: long(1) }, { id: long(2) }]);
      expect(first.passed).toHaveLength(2);
      expect(JSON.stringify(first.cache).length).toBeLessThan(200);
      expect(dedupe(strategy, first.cache, [{ id: long(2) }]).passed).toEqual([]);
    }
  });

  it('is bounded in channels and bytes, and forgets the channels learned longest ago first', () => {
    const cache = (n: number): DedupeCache => ({
      strategy: 'unique',
      ids: Array.from({ length: 100 }, (_, i) => rememberedId(long(100 * n + i))),
    });
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`c${n}`, { ...cache(0), ids: [] }]));
    expect(channelsToForget(many)).toEqual(Array.from({ length: 300 - DEDUPE_LIMITS.channels }, (_, n) => `c${n}`));
    const large = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`c${n}`, cache(n)]));
    expect(bytesOf(large)).toBeGreaterThan(DEDUPE_LIMITS.bytes);
    const forgotten = channelsToForget(large);
    expect(forgotten.length).toBeGreaterThan(0);
    for (const channel of forgotten) delete large[channel];
    expect(bytesOf(large)).toBeLessThan(1.1 * DEDUPE_LIMITS.bytes);
    expect(large['c249']).toBeDefined();
  });

  it('stays within its bounds over runs that keep emitting on new channels, and logs it', () => {
    let caches: Readonly<Record<string, DedupeCache>> = {};
    const stored = new Map<string, DedupeCache>();
    let warned = 0;
    for (let n = 0; n < 5; n++) {
      const emits = Array.from({ length: 100 }, (_, i) => ({ payload: '1', channel: `c${n}-${i}`, id: long(i) }));
      const execution = { id: `inv_${n}`, sourceId: 'dc_1', componentId: 'sc_1', workspaceId: 'o_1' };
      const result = runResult({ ...execution, event: noEvent, hops: 0, emits: true }, ok({ emits }), {
        topic: 't',
        strategy: 'unique',
        caches,
        eventIds: new EventIds(''),
      });
      caches = result.caches;
      for (const [channel, cache] of Object.entries(result.dedupe)) {
        if (cache === null) stored.delete(channel);
        else stored.set(channel, cache);
      }
      warned += [...result.records].filter(({ value }) => value.includes('were forgotten')).length;
    }
    expect(Object.keys(caches)).toHaveLength(DEDUPE_LIMITS.channels);
    expect(new Set(stored.keys())).toEqual(new Set(Object.keys(caches)));
    expect(warned).toBe(3);
  });

  it('treats a channel named __proto__ like any other', () => {
    const emits = [{ payload: '1', channel: '__proto__', id: 'a' }];
    const execution = { id: 'inv', sourceId: 'dc_1', componentId: 'sc_1', workspaceId: 'o_1', event: noEvent, hops: 0 };
    const context = { topic: 't', strategy: 'unique' as const, eventIds: new EventIds('') };
    const first = runResult({ ...execution, emits: true }, ok({ emits }), { ...context, caches: {} });
    expect(Object.keys(first.dedupe)).toEqual(['__proto__']);
    const again = runResult({ ...execution, emits: true }, ok({ emits }), { ...context, caches: first.caches });
    expect(again.duplicates).toBe(1);
  });
});
