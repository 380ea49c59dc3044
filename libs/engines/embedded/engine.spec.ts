import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { RevisionConflict } from '#libs/kernel/event-store.js';
import { type NewEvent } from '#libs/kernel/events.js';
import { StateConflict } from '#libs/runner/run-journal.js';
import { readRecords } from './stream-log/fetcher.js';
import { GroupCommit } from './writer/group-commit.js';
import { type EmbeddedEngines } from './index.js';
import { enginesForEach } from './testing/engines-for-each.js';
import { EmbeddedReadModelStore } from './read-models/read-model-store.js';
import { tableOf, whereClause } from './read-models/read-model-tables.js';
import { refusal } from './writer/refusal.js';
import { SCHEMA } from './writer/schema.js';
import { Database } from './writer/sqlite-driver.js';
import { threadData } from './writer/wal-signals.js';
import { MAX_GROUP_BYTES, Writer } from './writer/writer.js';

const installation = enginesForEach('embedded');
const engines = (secretKey = Buffer.alloc(32, 1)): Promise<EmbeddedEngines> => installation.open({ secretKey });

const event = (id: string): NewEvent => ({
  id,
  type: 'Counted',
  data: {},
  metadata: {
    $correlationId: 'c',
    $causationId: 'c',
    commandId: id,
    actor: { userId: 'u_1', apiKeyId: null },
    workspaceId: 'o_1',
    schemaVersion: 1,
  },
});

describe('the data directory', () => {
  it('has one owner: another is refused by name and pid, and the first is not disturbed', async () => {
    const first = await engines();
    const refused = engines();
    await expect(refused).rejects.toThrow(UnusableDataDirectory);
    await expect(refused).rejects.toThrow(
      `data directory ${installation.dataDir} is in use by the process with pid ${process.pid}`,
    );
    await first.log.createTopic('t', {});
    await first.close();
    expect(await (await engines()).log.topics('')).toEqual(['t']);
  });

  it('is refused to a second process', async () => {
    await engines();
    const script = fileURLToPath(
      new URL('../../../dist/libs/engines/embedded/testing/acknowledged-writer.js', import.meta.url),
    );
    const second = spawn(process.execPath, [script, installation.dataDir], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    second.stderr.on('data', (text: Buffer) => (said += text.toString()));
    expect(await once(second, 'close')).toEqual([1, null]);
    expect(said).toContain(`in use by the process with pid ${process.pid}`);
  });

  it.each(['events', 'data', 'read'])(
    'with another schema in %s.db is refused, and its lock released',
    async (file) => {
      await (await engines()).close();
      const give = (schema: number): void => {
        const db = new Database(join(installation.dataDir, `${file}.db`));
        db.exec(`PRAGMA user_version = ${schema}`);
        db.close();
      };
      give(99);
      const refused = engines();
      await expect(refused).rejects.toThrow(UnusableDataDirectory);
      const text = `${file}.db has schema 99, and this version of Sluice needs schema ${SCHEMA}: start the version that wrote it`;
      await expect(refused).rejects.toThrow(text);
      give(SCHEMA);
      await engines();
    },
  );

  it('of which a file is another database is refused by the name of the file', async () => {
    await (await engines()).close();
    copyFileSync(join(installation.dataDir, 'read.db'), join(installation.dataDir, 'events.db'));
    const refused = engines();
    await expect(refused).rejects.toThrow(UnusableDataDirectory);
    await expect(refused).rejects.toThrow(/events\.db cannot be opened \(.*\): put the data directory back/);
  });

  it('refuses writes after close, and may be closed twice', async () => {
    const closed = await engines();
    const late = closed.log.createTopic('t', {});
    await Promise.all([closed.close(), closed.close()]);
    await late;
    await expect(closed.log.createTopic('u', {})).rejects.toThrow('closed');
    // A clean shutdown leaves nothing in the write-ahead log.
    expect(statSync(join(installation.dataDir, 'data.db-wal'), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  });

  it('opened with another key does not reveal its secrets', async () => {
    const first = await engines();
    await first.vault.put('sec_1', 'o_1', 'secret');
    await first.close();
    const second = await engines(Buffer.alloc(32, 2));
    await expect(second.vault.get('sec_1', 'o_1')).rejects.toThrow('secret sec_1 cannot be decrypted');
    await second.close();
    await expect(engines(Buffer.alloc(16))).rejects.toThrow('the secret key must be 32 bytes, it has 16');
    await engines();
  });

  it('keeps no secret in plain text', async () => {
    const { vault, close } = await engines();
    await vault.put('sec_1', 'o_1', 'plainly visible');
    await close();
    const db = new Database(join(installation.dataDir, 'data.db'), { readOnly: true });
    const row = db.sql('SELECT sealed FROM secrets').get<{ sealed: Uint8Array }>();
    db.close();
    expect(Buffer.from(row?.sealed ?? []).toString('latin1')).not.toContain('plainly');
  });
});

describe('group commit', () => {
  it('rejects writes without space, except those of read models, which wait for it', async () => {
    let full = 2;
    const submitted: string[] = [];
    const writer: Partial<Writer> = {
      submit: async (kind) => {
        submitted.push(kind);
        if (full-- > 0) throw refusal({ rule: 'failed', message: 'disk full', fatal: false, full: true });
        return null;
      },
    };
    const reader = new Database(join(installation.dataDir, 'x.db'));
    const scans = { scan: () => Promise.reject(new Error('nothing is scanned')) };
    const store = new EmbeddedReadModelStore(writer as Writer, reader, scans);
    const schema = { name: 's.v1', indexed: [], sort: 'at' };
    await store.apply({ schema, generation: 1, expected: null, next: '1', writes: [] });
    expect(submitted).toEqual(['apply', 'apply', 'apply']);
    // Control: another failure reaches the caller at once, and so does one of the log itself.
    const failing: Partial<Writer> = {
      submit: () => Promise.reject(refusal({ rule: 'failed', message: 'x', fatal: true, full: false })),
    };
    const other = new EmbeddedReadModelStore(failing as Writer, reader, scans);
    await expect(other.apply({ schema, generation: 1, expected: null, next: '1', writes: [] })).rejects.toThrow(
      'not written: x',
    );
    expect(refusal({ rule: 'failed', message: 'disk full', fatal: false, full: true })).toMatchObject({
      code: 'platform.storage_full',
    });
    reader.close();
  });

  it('isolates operations refused by their own rule', async () => {
    const { events, journal, stats } = await engines();
    const commit = (executable: string, expectedVersion: number): Promise<void> =>
      journal.commit({ executable, expectedVersion, head: '', parts: {}, inbox: [], records: [] });
    const before = stats().commits;
    const results = await Promise.allSettled([
      events.append('count-1', [event('a')], 'no_stream'),
      events.append('count-1', [event('b')], 4n),
      events.append('count-2', [event('c')], 'no_stream'),
      commit('dc_1', 0),
      commit('dc_2', 5),
      commit('dc_3', 0),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    const reasons = results.map((result) => (result.status === 'rejected' ? (result.reason as unknown) : undefined));
    expect(reasons[1]).toBeInstanceOf(RevisionConflict);
    expect(reasons[4]).toBeInstanceOf(StateConflict);
    expect(stats().commits - before).toBe(2);
  });

  it('isolates an operation that fails for another reason, and keeps the order of the rest', async () => {
    const { readModels } = await engines();
    const schema = { name: 'a.v1', indexed: [], sort: 'at' };
    const changed = { name: 'a.v1', indexed: ['x'], sort: 'at' };
    const put = (id: string): { op: 'put'; doc: { id: string; at: string } } => ({ op: 'put', doc: { id, at: id } });
    const results = await Promise.allSettled([
      readModels.register(schema),
      readModels.apply({ schema, generation: 1, expected: null, next: '1', writes: [put('a')] }),
      readModels.register(changed),
      readModels.apply({ schema, generation: 1, expected: '1', next: '2', writes: [put('b')] }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect((await readModels.page(schema, { where: {}, limit: 10 })).docs.map(({ id }) => id)).toEqual(['b', 'a']);
  });

  it('rejects a whole group without space, and continues once there is space', () => {
    const db = new Database(join(installation.dataDir, 'g.db'), { synchronous: 'FULL' });
    db.exec('CREATE TABLE t(x); PRAGMA max_page_count = 20');
    let resets = 0;
    const group = new GroupCommit('data', db, {
      handlers: {
        drop_states: ([name = '']) => {
          db.sql('INSERT INTO t VALUES (?)').run(name);
          return null;
        },
      },
      reset: () => resets++,
    });
    const ops = ['small', 'x'.repeat(200_000), 'small'].map((args) => ({
      kind: 'drop_states' as const,
      args: [args],
      packed: 0,
    }));
    const { failures } = group.apply(ops, new Uint8Array());
    expect(failures.map(([index]) => index)).toEqual([0, 1, 2]);
    expect(failures[0]?.[1]).toMatchObject({ rule: 'failed', message: expect.stringContaining('full'), fatal: false });
    expect(resets).toBe(1);
    db.exec('PRAGMA max_page_count = 1000');
    expect(group.apply(ops, new Uint8Array()).failures).toEqual([]);
    expect(db.sql('SELECT count(*) AS n FROM t').get()).toEqual({ n: 3 });
    db.close();
  });

  it('rejects now and later when the writer is gone, which is fatal', async () => {
    const fatal: Error[] = [];
    const script = `import { parentPort } from 'node:worker_threads';
      parentPort.on('message', () => process.exit(3));
      parentPort.postMessage({ type: 'ready' });`;
    const entry = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
    const writer = await Writer.start(threadData(installation.dataDir, ['data']), (error) => fatal.push(error), entry);
    const both = await Promise.allSettled([writer.submit('drop_states', ['a']), writer.submit('drop_states', ['b'])]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(writer.submit('drop_states', ['c'])).rejects.toThrow('the writer thread ended with code 3');
    expect(fatal.map(({ message }) => message)).toEqual(['the writer thread ended with code 3']);
    await writer.close();
  });

  it('bounds what is in flight to the writer, whatever waits', async () => {
    const fatal: Error[] = [];
    const writer = await Writer.start(threadData(installation.dataDir, ['data']), (error) => fatal.push(error));
    const size = 100_000;
    const sealed = new Uint8Array(size);
    let most = 0;
    const done = Array.from({ length: 100 }, async (_, n) => {
      await writer.submit('put_secret', { ref: `sec_${n}`, workspace: 'o_1', sealed }, { bytes: size });
      most = Math.max(most, writer.stats().postedBytes);
    });
    expect(writer.stats()).toMatchObject({ queuedOps: 100, queuedBytes: 100 * size });
    await Promise.all(done);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2 * MAX_GROUP_BYTES);
    expect(writer.stats()).toMatchObject({ queuedOps: 0, queuedBytes: 0, postedBytes: 0 });
    await writer.close();
    expect(fatal).toEqual([]);
  });
});

describe('reading', () => {
  it('of the log and of due deliveries stops at about 4 MB, however many records are asked for', async () => {
    const { log, due } = await engines();
    for (let n = 0; n < 12; n++) {
      const record = { key: 'k', headers: {}, value: JSON.stringify('x'.repeat(1 << 20)) };
      await due.put([{ id: `d${n}`, owner: 'wh_1', kind: 'delivery', dueAt: n, record }]);
    }
    expect((await due.dueBy(100, 1_000)).length).toBeLessThanOrEqual(6);
    await log.createTopic('t', {});
    for (let n = 0; n < 12; n++)
      await log.publish([{ topic: 't', key: 'k', headers: {}, value: JSON.stringify('x'.repeat(1 << 20)) }]);
    expect((await log.read('t', -1, 1_000)).length).toBeLessThanOrEqual(6);
  });

  it('cut short by size leaves no snapshot open that would hold back the write-ahead log', async () => {
    const { log } = await engines();
    await log.createTopic('t', {});
    const value = JSON.stringify('x'.repeat(1 << 20));
    for (let n = 0; n < 8; n++) await log.publish([{ topic: 't', key: 'k', headers: {}, value }]);
    const reader = new Database(join(installation.dataDir, 'data.db'), { readOnly: true });
    const { records, complete } = readRecords(reader, { id: 1, name: 't' }, { after: -1, upTo: 100, limit: 100 });
    expect([records.length, complete]).toEqual([3, false]);
    await log.publish([{ topic: 't', key: 'k', headers: {}, value }]);
    const other = new Database(join(installation.dataDir, 'data.db'));
    expect(other.sql('PRAGMA wal_checkpoint(RESTART)').get()).toMatchObject({ busy: 0 });
    other.close();
    reader.close();
    const page = await log.read('t', -1, 100);
    expect(page.at(-1)?.offset).toBe(page.length - 1);
  });

  it('looks a list up by the field that narrows it down most', async () => {
    const { readModels } = await engines();
    const schema = { name: 'a.v1', indexed: ['workspace', 'slug', 'listed'], sort: 'at' };
    await readModels.register(schema);
    const writes = Array.from({ length: 600 }, (_, i) => ({
      op: 'put' as const,
      doc: { id: `d${i}`, at: String(i), workspace: 'o_1', slug: `s${i}`, listed: 'yes' },
    }));
    await readModels.apply({ schema, generation: 1, expected: null, next: '1', writes });
    const reader = new Database(join(installation.dataDir, 'read.db'), { readOnly: true });
    const clause = (where: Record<string, string>): string => whereClause(reader, schema, tableOf(schema, 1), where);
    expect(clause({ workspace: 'o_1', slug: 's7', listed: 'yes' })).toBe(
      '+"f_workspace" = ? AND "f_slug" = ? AND +"f_listed" = ?',
    );
    expect(clause({ workspace: 'o_2', listed: 'yes' })).toBe('"f_workspace" = ? AND +"f_listed" = ?');
    expect(() => clause({ other: 'x' })).toThrow('collection a.v1 is not indexed by other');
    reader.close();
  });

  it('continues while a generation is switched', async () => {
    const { readModels } = await engines();
    const schema = { name: 'a.v1', indexed: [], sort: 'at' };
    await readModels.register(schema);
    for (let turn = 0; turn < 5; turn++) {
      const generation = await readModels.beginGeneration(schema);
      const doc = { id: 'one', at: '1' };
      await readModels.apply({ schema, generation, expected: null, next: '1', writes: [{ op: 'put', doc }] });
      let switched = false;
      const switching = readModels.activateGeneration(schema, generation).then(() => (switched = true));
      while (!switched) {
        const { docs } = await readModels.page(schema, { where: {}, limit: 1 });
        expect(docs.length).toBe(turn === 0 ? docs.length : 1);
        await new Promise(setImmediate);
      }
      await switching;
    }
  });
});
