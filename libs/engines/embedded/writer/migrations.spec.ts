import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';
import { type EmbeddedEngines } from '../index.js';
import { moveIntoChunks } from '../stream-log/move-into-chunks.js';
import { enginesForEach } from '../testing/engines-for-each.js';
import { migrate } from './schema.js';
import { Database } from './sqlite-driver.js';

const installation = enginesForEach('migrations');
const engines = (): Promise<EmbeddedEngines> => installation.open();

/** What held waiting records up to schema 7 of data.db. */
const WAITING_OF_SCHEMA_7 = `
  DROP INDEX waiting_by_due;
  ALTER TABLE waiting DROP COLUMN since;
  ALTER TABLE waiting DROP COLUMN handed_out;
  CREATE INDEX waiting_by_due ON waiting(due_at, id);`;

/** What held the records up to schema 6 of data.db. */
const RECORDS_OF_SCHEMA_6 = `
  DROP TABLE chunks;
  CREATE TABLE records(
    id INTEGER PRIMARY KEY, topic INTEGER NOT NULL, size INTEGER NOT NULL, at INTEGER NOT NULL,
    key TEXT NOT NULL, headers TEXT NOT NULL, value TEXT NOT NULL);
  CREATE INDEX records_by_topic ON records(topic, id, size);
  ${WAITING_OF_SCHEMA_7}`;

/** A database on which the process dies at a commit. */
const stoppedAfter = (db: Database, commits: number): Database =>
  new Proxy(db, {
    get: (target, name) => {
      const own = Reflect.get(target, name) as unknown;
      if (typeof own !== 'function') return own;
      return (...args: unknown[]) => {
        if (name === 'exec' && args[0] === 'COMMIT' && commits-- === 0) {
          target.exec('ROLLBACK');
          throw new Error('died');
        }
        return Reflect.apply(own, target, args) as unknown;
      };
    },
  });

describe('migrations', () => {
  const unheard = (): void => undefined;

  it('run once each, and a step that fails leaves the file as it was', () => {
    const db = new Database(join(installation.dataDir, 'm.db'));
    const steps = ['CREATE TABLE a(x)', 'CREATE TABLE b(x)'];
    migrate('data', db, unheard, steps.slice(0, 1));
    migrate('data', db, unheard, steps);
    migrate('data', db, unheard, steps);
    expect(() => migrate('data', db, unheard, [...steps, 'CREATE TABLE c(x); CREATE TABLE a(x)'])).toThrow(
      'already exists',
    );
    expect(db.sql(`SELECT name FROM sqlite_schema ORDER BY name`).all()).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(db.sql('PRAGMA user_version').get()).toEqual({ user_version: 2 });
    db.close();
  });

  it('of a data directory of the first version keep its content', async () => {
    const first = await engines();
    await first.vault.put('sec_1', 'o_1', 'kept');
    const record = { topic: 'deliveries.wh_1', key: 'wh_1', headers: {}, value: '"ü"' };
    await first.schedule.put([{ id: 'dlv_1', owner: 'wh_1', dueAt: 1, record }]);
    await first.close();
    const db = new Database(join(installation.dataDir, 'data.db'));
    db.exec(
      `DROP TABLE usage; DROP TABLE source_heard; DROP TABLE delayed; DROP TABLE store_records; DROP TABLE store_sizes; ${RECORDS_OF_SCHEMA_6} DROP INDEX waiting_by_owner; ALTER TABLE waiting DROP COLUMN size;
       CREATE INDEX waiting_by_owner ON waiting(owner); PRAGMA user_version = 1`,
    );
    db.close();
    const { vault, usage, schedule } = await engines();
    expect(await vault.get('sec_1', 'o_1')).toBe('kept');
    expect(schedule.bytesOf('wh_1')).toBe(Buffer.byteLength(JSON.stringify(record)));
    expect(await schedule.due(1, 10)).toMatchObject([{ id: 'dlv_1', since: 1, handedOut: 0 }]);
    await usage.add(1, new Map([['o_1', { invocations: 1, computeMs: 2, credits: 3 }]]));
    expect(await usage.of(1, 'o_1')).toEqual({ invocations: 1, computeMs: 2, credits: 3 });
  });

  it('move records into chunks with their offsets, times and commits, also after an interruption', async () => {
    const topics = ['a', 'b'];
    const texts = ['plain', 'ü € 😀', 'nul \0 inside', 'x'.repeat(100_000)];
    const records = Array.from({ length: 2_500 }, (_, n) => ({
      id: 3 * n,
      topic: 1 + (n % 2),
      value: texts[n % texts.length] ?? '',
    }));
    const first = await engines();
    for (const name of topics) await first.log.createTopic(name, {});
    await first.close();
    const db = new Database(join(installation.dataDir, 'data.db'));
    db.exec(`${RECORDS_OF_SCHEMA_6} PRAGMA user_version = 6; INSERT INTO commits VALUES (1, 'g', 600); BEGIN`);
    for (const { id, topic, value } of records)
      db.sql('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)').run(
        id,
        topic,
        1 + 7 + Buffer.byteLength(value),
        5_000 + id,
        'k',
        '{"n":1}',
        value,
      );
    db.exec('COMMIT');
    // The process died in the middle.
    const stopping = stoppedAfter(db, 2);
    expect(() => moveIntoChunks(stopping, unheard)).toThrow('died');
    expect(db.sql('SELECT count(*) > 0 AS some FROM records').get()).toEqual({ some: 1 });
    expect(db.sql('SELECT count(*) > 0 AS some FROM chunks').get()).toEqual({ some: 1 });
    db.close();

    const { log } = await engines();
    for (const [index, topic] of topics.entries()) {
      const kept: StoredRecord[] = [];
      for (let more = await log.read(topic, -1, 10_000); more.length > 0;)
        more = await log.read(topic, kept[kept.push(...more) - 1]?.offset ?? -1, 10_000);
      const own = records.filter((record) => record.topic === index + 1);
      expect(kept.map(({ offset, timestamp, value }) => [offset, timestamp, value])).toEqual(
        own.map(({ id, value }) => [id, 5_000 + id, value]),
      );
      expect(kept[0]).toMatchObject({
        key: 'k',
        headers: { n: 1 },
        size: 1 + 7 + Buffer.byteLength(kept[0]?.value ?? ''),
      });
    }
    expect(await log.committed('g', 'a')).toEqual({ a: 600 });
    expect(await log.lag('g', { names: ['a'] })).toEqual({
      a: records.filter(({ id, topic }) => topic === 1 && id > 600).length,
    });
    // Offsets go on after the last one.
    const [next] = await log.publish([{ topic: 'a', key: 'k', headers: {}, value: '' }]);
    expect(next).toBe(3 * 2_499 + 1);
  }, 30_000);
});
