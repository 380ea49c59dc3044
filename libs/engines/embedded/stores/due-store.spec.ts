import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type DueEntry } from '#libs/due/due-store.js';
import { enginesForEach } from '../testing/engines-for-each.js';
import { Database } from '../writer/sqlite-driver.js';
import { DUE_SQL } from './due-store.js';

const installation = enginesForEach('due');

const waiting = (id: string, dueAt: number, owner = 'wh_1', pad = 1): DueEntry => ({
  id,
  owner,
  kind: 'delivery',
  dueAt,
  record: { key: owner, headers: { id, webhook: owner, attempt: '2' }, value: JSON.stringify('ü'.repeat(pad)) },
});
const bytes = (...entries: DueEntry[]): number =>
  entries.reduce((sum, { record }) => sum + Buffer.byteLength(JSON.stringify(record)), 0);

// docs/reference/limits.md#unread-bytes
describe('the bytes of an owner', () => {
  it('count its entries, grow, shrink, and are the same after a restart', async () => {
    const { due, close } = await installation.open();
    expect(due.bytesOf('wh_1')).toBe(0);
    const [a, b, c] = [waiting('a', 1, 'wh_1', 1_000), waiting('b', 2, 'wh_1', 10), waiting('c', 3, 'wh_2')];
    await Promise.all([due.put([a, b]), due.put([c])]);
    expect([due.bytesOf('wh_1'), due.bytesOf('wh_2')]).toEqual([bytes(a, b), bytes(c)]);
    await close();
    const { due: reopened } = await installation.open();
    expect(reopened.bytesOf('wh_1')).toBe(bytes(a, b));
    await reopened.remove(['a', 'a', 'none']);
    expect(reopened.bytesOf('wh_1')).toBe(bytes(b));
    await reopened.remove(['b']);
    expect([reopened.bytesOf('wh_1'), reopened.bytesOf('wh_2')]).toEqual([0, bytes(c)]);
  });

  it('count a replaced entry once, for its new owner', async () => {
    const { due } = await installation.open();
    await due.put([waiting('a', 1, 'wh_1', 1_000), waiting('a', 1, 'wh_1', 2_000)]);
    expect(due.bytesOf('wh_1')).toBe(bytes(waiting('a', 1, 'wh_1', 2_000)));
    await due.put([waiting('a', 5, 'wh_2', 20)]);
    expect([due.bytesOf('wh_1'), due.bytesOf('wh_2')]).toEqual([0, bytes(waiting('a', 5, 'wh_2', 20))]);
  });

  it('are zero once the owner is dropped', async () => {
    const { due } = await installation.open();
    await due.put([waiting('a', 1), waiting('b', 2), waiting('c', 3, 'wh_2')]);
    await due.removeOwner('wh_1');
    expect([due.bytesOf('wh_1'), due.bytesOf('wh_2')]).toEqual([0, bytes(waiting('c', 3, 'wh_2'))]);
  });
});

describe('a million entries', () => {
  const MILLION = 1_000_000;
  /** Fills the table as the writer would, by one statement. Every other entry is of `dc_0`. */
  const fill = async (): Promise<void> => {
    await (await installation.open()).close();
    const db = new Database(join(installation.dataDir, 'data.db'), { synchronous: 'NORMAL' });
    db.exec(
      `WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < ${MILLION - 1})
       INSERT INTO due(id, owner, kind, due_at, record, size, since)
       SELECT printf('e%07d', i), iif(i % 2 = 0, 'dc_0', 'dc_' || (i % 10000)), 'replay', i,
         '{"key":"k","headers":{},"value":"1"}', 36, i FROM n`,
    );
    db.close();
  };

  it('are read, counted and moved by their indexes, and none is sorted', async () => {
    await fill();
    const engines = await installation.open();
    const { due } = engines;
    expect(await due.nextDueAt()).toBe(0);
    expect((await due.dueBy(MILLION, 3)).map(({ id }) => id)).toEqual(['e0000000', 'e0000001', 'e0000002']);
    expect((await due.dueBy(MILLION, 2, ['dc_0', 'dc_1'])).map(({ id }) => id)).toEqual(['e0000003', 'e0000005']);
    expect(await due.countsOf(['dc_1', 'dc_0'])).toEqual([MILLION / 10_000, MILLION / 2]);
    expect(due.bytesOf('dc_1')).toBe((36 * MILLION) / 10_000);
    await due.put([waiting('new', 5)]);
    await due.setOut((await due.dueBy(5, 10)).map((entry) => ({ entry, until: MILLION + 1 })));
    expect(await due.nextDueAt()).toBe(6);
    await due.remove(['e0000006']);
    await due.removeOwner('dc_7');
    expect(await due.nextDueAt()).toBe(8);
    await engines.close();

    const db = new Database(join(installation.dataDir, 'data.db'), { readOnly: true });
    const planOf = (sql: string): string =>
      db
        .sql(`EXPLAIN QUERY PLAN ${sql}`)
        .all<{ detail: string }>(...Array.from(sql.matchAll(/\?/g), () => null))
        .map(({ detail }) => detail)
        .join('; ');
    expect(planOf(DUE_SQL.by)).toMatch(/^SEARCH due USING INDEX due_by_time \(since<\?\)/);
    expect(planOf(DUE_SQL.by)).not.toMatch(/TEMP B-TREE FOR ORDER|SCAN due/);
    expect(planOf(DUE_SQL.next)).toBe('SEARCH due USING COVERING INDEX due_by_time');
    expect(planOf(DUE_SQL.counts)).toMatch(/^SEARCH due USING COVERING INDEX due_by_owner \(owner=\?\)/);
    expect(planOf(DUE_SQL.counts)).not.toContain('TEMP B-TREE');
    for (const sql of [DUE_SQL.ofOwner, DUE_SQL.removal])
      expect(planOf(sql)).toBe('SEARCH due USING INDEX due_by_owner (owner=?)');
    db.close();
  }, 60_000);
});
