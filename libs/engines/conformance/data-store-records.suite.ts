import { expect, it } from '@jest/globals';
import { DATA_STORE_LIMITS, type DataStoreLimits } from '#libs/component-model/data-store-calls.js';
import { type DataStoreRecords, type OwnedRecord } from '#libs/data-stores/data-store-records.js';
import { type MakeHarness, type Part } from './harness.js';
import { runParts } from './run-parts.js';

export const DATA_STORE_RECORDS_PARTS = ['records', 'ttl', 'incr', 'pages', 'limits', 'clear', 'restart'] as const;

/** Limits with which an adapter must be opened here. */
export const SMALL_STORES: DataStoreLimits = {
  ...DATA_STORE_LIMITS,
  keys: 500,
  storeBytes: 2_000_000,
  workspaceBytes: 3_000_000,
};

export const describeDataStoreRecords = (name: string, make: MakeHarness<DataStoreRecords>): void =>
  runParts(`DataStoreRecords: ${name}`, DATA_STORE_RECORDS_PARTS, parts, make);

const NOW = 1_000_000;
const record = (key: string, value: unknown = 1, more: Partial<OwnedRecord> = {}): OwnedRecord => ({
  storeId: 'ds_a',
  workspaceId: 'o_1',
  key,
  value: JSON.stringify(value),
  expiresAt: null,
  ...more,
});
const owner = (key: string): { storeId: string; workspaceId: string; key: string } => ({
  storeId: 'ds_a',
  workspaceId: 'o_1',
  key,
});
const keysOf = async (records: DataStoreRecords, storeId = 'ds_a', now = NOW): Promise<string[]> => {
  const keys: string[] = [];
  for (let after = ''; ;) {
    const page = await records.page(storeId, { after, limit: 7, keysOnly: true }, now);
    keys.push(...page.records.map(({ key }) => key));
    if (!page.more) return keys;
    after = keys.at(-1) ?? '';
  }
};

const parts: Record<(typeof DATA_STORE_RECORDS_PARTS)[number], Part<DataStoreRecords>> = {
  records: (port) => {
    it('come back unchanged, and the last write wins', async () => {
      expect(await port().get('ds_a', 'k', NOW)).toBeUndefined();
      await port().set(record('k', { ü: ['x', null] }), NOW);
      await port().set(record('K', 'other case'), NOW);
      expect(await port().get('ds_a', 'k', NOW)).toEqual({ key: 'k', value: '{"ü":["x",null]}', expiresAt: null });
      await port().set(record('k', 2), NOW);
      expect((await port().get('ds_a', 'k', NOW))?.value).toBe('2');
      expect(await port().size('ds_a', NOW)).toBe(2);
    });
    it('belong to their store, also when one key holds the separators of another', async () => {
      await port().set(record('k', 1), NOW);
      await port().set(record('k/l', 2), NOW);
      await port().set(record('k', 3, { storeId: 'ds_b' }), NOW);
      expect((await port().get('ds_b', 'k', NOW))?.value).toBe('3');
      expect(await port().get('ds_b', 'k/l', NOW)).toBeUndefined();
      expect(await keysOf(port(), 'ds_b')).toEqual(['k']);
    });
    it('are deleted once', async () => {
      await port().set(record('k'), NOW);
      expect(await port().delete('ds_a', 'k', NOW)).toBe(true);
      expect(await port().delete('ds_a', 'k', NOW)).toBe(false);
      expect(await port().get('ds_a', 'k', NOW)).toBeUndefined();
      expect(await port().size('ds_a', NOW)).toBe(0);
    });
  },
  ttl: (port) => {
    it('hides a record from its end on, from every reader', async () => {
      await port().set(record('k', 1, { expiresAt: NOW + 10 }), NOW);
      await port().set(record('l', 1), NOW);
      expect(await port().get('ds_a', 'k', NOW + 9)).toMatchObject({ expiresAt: NOW + 10 });
      expect(await port().get('ds_a', 'k', NOW + 10)).toBeUndefined();
      expect(await keysOf(port(), 'ds_a', NOW + 10)).toEqual(['l']);
      expect(await port().size('ds_a', NOW + 10)).toBe(1);
      expect(await port().delete('ds_a', 'k', NOW + 10)).toBe(false);
    });
    it('is changed and removed by setTtl, which does not revive', async () => {
      await port().set(record('k', 1), NOW);
      expect(await port().setTtl('ds_a', 'k', NOW + 5, NOW)).toBe(true);
      expect(await port().setTtl('ds_a', 'k', NOW + 50, NOW + 5)).toBe(false);
      await port().set(record('k', 2, { expiresAt: NOW + 5 }), NOW);
      expect(await port().setTtl('ds_a', 'k', null, NOW)).toBe(true);
      expect((await port().get('ds_a', 'k', NOW + 100))?.value).toBe('2');
      expect(await port().setTtl('ds_a', 'none', null, NOW)).toBe(false);
    });
    it('is swept, which leaves the others', async () => {
      await port().set(record('k', 1, { expiresAt: NOW + 10 }), NOW);
      await port().set(record('l', 1, { expiresAt: NOW + 20 }), NOW);
      await port().set(record('m', 1), NOW);
      expect(await port().expire(NOW + 10)).toBe(1);
      expect(await port().expire(NOW + 10)).toBe(0);
      const left: string[] = [];
      for await (const { key } of port().all()) left.push(key);
      expect(left.sort()).toEqual(['l', 'm']);
    });
  },
  incr: (port) => {
    it('adds exactly, however many add at once', async () => {
      const sums = await Promise.all(Array.from({ length: 20 }, () => port().incr(owner('n'), 2, NOW)));
      expect(sums.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => 2 * (i + 1)));
      expect((await port().get('ds_a', 'n', NOW))?.value).toBe('40');
    });
    it('keeps the end of a record, and starts again from 0 after it', async () => {
      await port().set(record('n', 5, { expiresAt: NOW + 10 }), NOW);
      expect(await port().incr(owner('n'), -1.5, NOW)).toBe(3.5);
      expect(await port().get('ds_a', 'n', NOW)).toMatchObject({ value: '3.5', expiresAt: NOW + 10 });
      expect(await port().incr(owner('n'), 1, NOW + 10)).toBe(1);
      expect(await port().get('ds_a', 'n', NOW + 10)).toMatchObject({ value: '1', expiresAt: null });
    });
    it('gives a record that it makes its end', async () => {
      expect(await port().incr(owner('n'), 1, NOW, NOW + 10)).toBe(1);
      expect(await port().incr(owner('n'), 1, NOW + 1, NOW + 20)).toBe(2);
      expect(await port().get('ds_a', 'n', NOW)).toMatchObject({ value: '2', expiresAt: NOW + 10 });
      expect(await port().incr(owner('n'), 1, NOW + 10, NOW + 20)).toBe(1);
      expect(await port().get('ds_a', 'n', NOW + 10)).toMatchObject({ value: '1', expiresAt: NOW + 20 });
    });
    it('refuses what is no number', async () => {
      await port().set(record('n', '5'), NOW);
      await expect(port().incr(owner('n'), 1, NOW)).rejects.toMatchObject({ code: 'data_store.not_a_number' });
      expect((await port().get('ds_a', 'n', NOW))?.value).toBe('"5"');
    });
  },
  pages: (port) => {
    it('yield every key once, with the values on request', async () => {
      const keys = Array.from({ length: 30 }, (_, i) => `k${String(i).padStart(2, '0')}`);
      await Promise.all(keys.map((key) => port().set(record(key, key), NOW)));
      expect(await keysOf(port())).toEqual(keys);
      const page = await port().page('ds_a', { after: 'k27', limit: 100, keysOnly: false }, NOW);
      expect(page).toEqual({
        records: ['k28', 'k29'].map((key) => ({ key, value: `"${key}"`, expiresAt: null })),
        more: false,
      });
      expect(await port().page('ds_a', { after: 'k29', limit: 1, keysOnly: false }, NOW)).toEqual({
        records: [],
        more: false,
      });
    });
    it('end early at large values', async () => {
      for (const key of ['a', 'b', 'c']) await port().set(record(key, 'x'.repeat(200_000)), NOW);
      const page = await port().page('ds_a', { after: '', limit: 10, keysOnly: false }, NOW);
      expect(page.records.map(({ key }) => key)).toEqual(['a']);
      expect(page.more).toBe(true);
      expect(await keysOf(port())).toEqual(['a', 'b', 'c']);
    });
  },
  limits: (port) => {
    it('refuse one key too many, and count a replaced or deleted one once', async () => {
      await Promise.all(Array.from({ length: 500 }, (_, i) => port().set(record(`k${i}`), NOW)));
      await port().set(record('k0', 2), NOW);
      const refused = port().set(record('other'), NOW);
      await expect(refused).rejects.toMatchObject({ code: 'data_store.full', details: { limit: 500, actual: 501 } });
      await expect(port().incr(owner('other'), 1, NOW)).rejects.toMatchObject({ code: 'data_store.full' });
      await port().delete('ds_a', 'k1', NOW);
      await port().set(record('other'), NOW);
    });
    it('refuse one byte too many in a store and in a workspace', async () => {
      const big = 'x'.repeat(249_990);
      for (let i = 0; i < 7; i++) await port().set(record(`k${i}`, big), NOW);
      await expect(port().set(record('k8', `${big}${big}`), NOW)).rejects.toMatchObject({
        details: { what: 'storeBytes', limit: 2_000_000 },
      });
      for (let i = 0; i < 4; i++) await port().set(record(`k${i}`, big, { storeId: 'ds_b' }), NOW);
      await expect(port().set(record('k8', `${big}${big}`, { storeId: 'ds_b' }), NOW)).rejects.toMatchObject({
        details: { what: 'workspaceBytes', limit: 3_000_000 },
      });
      await port().set(record('k8', `${big}${big}`, { storeId: 'ds_c', workspaceId: 'o_2' }), NOW);
      await port().set(record('k0', 1), NOW);
      await port().set(record('k8', big, { storeId: 'ds_b' }), NOW);
    });
    it('do not count what has expired', async () => {
      const soon = { expiresAt: NOW + 1 };
      await Promise.all(Array.from({ length: 500 }, (_, i) => port().set(record(`k${i}`, 1, soon), NOW)));
      await port().set(record('other'), NOW + 1);
      expect(await port().size('ds_a', NOW + 1)).toBe(1);
    });
  },
  clear: (port) => {
    it('removes every record of the store alone, also when repeated, and makes room', async () => {
      await Promise.all(Array.from({ length: 500 }, (_, i) => port().set(record(`k${i}`), NOW)));
      await port().set(record('k', 1, { storeId: 'ds_b' }), NOW);
      await port().clear('ds_a');
      await port().clear('ds_a');
      expect(await keysOf(port())).toEqual([]);
      expect(await keysOf(port(), 'ds_b')).toEqual(['k']);
      await Promise.all(Array.from({ length: 500 }, (_, i) => port().set(record(`l${i}`), NOW)));
      await expect(port().set(record('other'), NOW)).rejects.toMatchObject({ details: { actual: 501 } });
    });
  },
  restart: (port, harness) => {
    it('keeps records, their ends and their counts', async () => {
      await port().set(record('k', 1, { expiresAt: NOW + 10 }), NOW);
      await Promise.all(Array.from({ length: 499 }, (_, i) => port().set(record(`k${i}`), NOW)));
      const again = await harness().reopen();
      expect(await again.get('ds_a', 'k', NOW)).toEqual({ key: 'k', value: '1', expiresAt: NOW + 10 });
      await expect(again.set(record('other'), NOW)).rejects.toMatchObject({ code: 'data_store.full' });
      const all: OwnedRecord[] = [];
      for await (const each of again.all()) all.push(each);
      expect(all).toHaveLength(500);
      expect(all).toContainEqual(record('k', 1, { expiresAt: NOW + 10 }));
    });
  },
};
