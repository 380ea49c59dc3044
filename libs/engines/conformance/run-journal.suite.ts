import { expect, it } from '@jest/globals';
import { HEARD_LIMIT } from '#libs/runner/heard-emits.js';
import { MOST_ABOVE } from '#libs/runner/lane-tracker.js';
import {
  CommitTooLarge,
  STATE_CHANGE_BYTES,
  StateConflict,
  type EmitProgress,
  type RunCommit,
  type RunJournal,
} from '#libs/runner/run-journal.js';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { type MakeHarness, type Part } from './harness.js';
import { eventually } from './eventually.js';
import { runParts } from './run-parts.js';

export const RUN_JOURNAL_PARTS = [
  'state',
  'atomicity',
  'size',
  'owners',
  'inbox',
  'heard',
  'listing',
  'drop',
  'restart',
] as const;

/** The journal together with the log that its records go to. */
export interface JournalAndLog {
  readonly journal: RunJournal;
  readonly log: StreamLog;
}

export const describeRunJournal = (name: string, make: MakeHarness<JournalAndLog>): void =>
  runParts(`RunJournal: ${name}`, RUN_JOURNAL_PARTS, parts, make);

const TOPIC = 'emits.dc_1';
const emit = (n: number): LogRecord => ({ topic: TOPIC, key: 'dc_1', headers: { id: `e${n}` }, value: `{"n":${n}}` });

const commit = (expectedVersion: number, change: Partial<RunCommit> = {}): RunCommit => ({
  sourceId: 'dc_1',
  expectedVersion,
  progress: { through: expectedVersion, above: [] },
  dedupe: {},
  dbChanges: {},
  lastEventId: `1700000000000-${expectedVersion}`,
  inbox: [],
  records: [],
  ...change,
});

const emitted = async ({ log }: JournalAndLog): Promise<(string | undefined)[]> =>
  (await log.read(TOPIC, -1, 1000)).map(({ headers }) => headers.id);

const parts: Record<(typeof RUN_JOURNAL_PARTS)[number], Part<JournalAndLog>> = {
  state: (port) => {
    it('of a source that never committed is empty', async () => {
      expect(await port().journal.load('dc_new')).toEqual({
        version: 0,
        progress: { through: -1, above: [] },
        dedupe: {},
        db: {},
        heard: {},
        lastEventId: '',
      });
    });

    it('adds up over commits: changed caches and keys replace, others stay', async () => {
      const { journal } = port();
      const unique = { strategy: 'unique', ids: ['a', 'b'] } as const;
      await journal.commit(
        commit(0, {
          progress: { through: 3, above: [5, 8] },
          dedupe: { '': unique, other: { strategy: 'greatest', max: 7 } },
          dbChanges: { a: '1', b: '{"x":"ü"}', c: 'null' },
        }),
      );
      await journal.commit(
        commit(1, {
          dedupe: { other: { strategy: 'greatest', max: 9 }, third: { strategy: 'last', id: 'z' }, fourth: null },
          dbChanges: { a: '2', b: null, missing: null },
        }),
      );
      expect(await journal.load('dc_1')).toEqual({
        version: 2,
        progress: { through: 1, above: [] },
        dedupe: { '': unique, other: { strategy: 'greatest', max: 9 }, third: { strategy: 'last', id: 'z' } },
        db: { a: '2', c: 'null' },
        heard: {},
        lastEventId: '1700000000000-1',
      });
    });

    it('takes any text as a key or a channel', async () => {
      const { journal } = port();
      const names = ['', '.', 'a.b', '$x', '%0024', '__proto__', 'constructor', '5', 'naïve 😀', 'x'.repeat(200)];
      const db = Object.fromEntries(names.map((name) => [name, JSON.stringify(name)]));
      const dedupe = Object.fromEntries(names.map((name) => [name, { strategy: 'last', id: name } as const]));
      await journal.commit(commit(0, { dbChanges: db, dedupe }));
      expect(await journal.load('dc_1')).toMatchObject({ db, dedupe });
      await journal.commit(commit(1, { dbChanges: { 'a.b': null, '': null } }));
      const { 'a.b': _, '': __, ...left } = db;
      expect((await journal.load('dc_1')).db).toEqual(left);
    });

    it('forgets the cache of a channel when a commit says so', async () => {
      const { journal } = port();
      const last = { strategy: 'last', id: 'x' } as const;
      await journal.commit(commit(0, { dedupe: { '': last, 'a.b': last, kept: last } }));
      await journal.commit(commit(1, { dedupe: { '': null, 'a.b': null } }));
      expect((await journal.load('dc_1')).dedupe).toEqual({ kept: last });
      await journal.commit(commit(2, { dedupe: { 'a.b': { strategy: 'last', id: 'y' } } }));
      expect((await journal.load('dc_1')).dedupe).toEqual({ kept: last, 'a.b': { strategy: 'last', id: 'y' } });
    });

    it('of one source is not that of another', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { dbChanges: { a: '1' } }));
      await journal.commit(commit(0, { sourceId: 'dc_2', dbChanges: { a: '2' } }));
      expect([(await journal.load('dc_1')).db, (await journal.load('dc_2')).db]).toEqual([{ a: '1' }, { a: '2' }]);
    });
  },

  atomicity: (port, harness) => {
    it('writes state and emits together, and wakes the consumers of the topic', async () => {
      const { journal, log } = port();
      await log.createTopic(TOPIC, {});
      const seen: (string | undefined)[] = [];
      const consumer = await log.consume({
        group: 'g',
        topics: { names: [TOPIC] },
        maxBatch: 10,
        maxUnacked: 10,
        handler: async (batch) => {
          for (const { headers, offset } of batch.records) {
            seen.push(headers.id);
            batch.ack(offset);
          }
        },
      });
      await journal.commit(commit(0, { records: [emit(1), emit(2)] }));
      await journal.commit(commit(1, { records: [emit(3)] }));
      await eventually('three emits consumed', () => seen.length === 3);
      expect(seen).toEqual(['e1', 'e2', 'e3']);
      await harness().flush();
      expect(await emitted(port())).toEqual(['e1', 'e2', 'e3']);
      await consumer.close();
    });

    it('writes nothing of a commit that is refused', async () => {
      const { journal, log } = port();
      await log.createTopic(TOPIC, {});
      await journal.commit(commit(0, { records: [emit(1)] }));
      const refused = commit(0, { records: [emit(2)], dbChanges: { a: '1' }, inbox: ['inv_2'] });
      await expect(journal.commit(refused)).rejects.toThrow(StateConflict);
      await harness().flush();
      expect(await emitted(port())).toEqual(['e1']);
      expect((await journal.load('dc_1')).db).toEqual({});
      expect(await journal.seen('dc_1', ['inv_2'])).toEqual(new Set());
    });

    it('drops the emits of a source whose topic is gone, and keeps the rest', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { records: [emit(1)], dbChanges: { a: '1' } }));
      expect((await journal.load('dc_1')).db).toEqual({ a: '1' });
    });
  },

  size: (port, harness) => {
    /** Every limit of a source reached at once. */
    const fullest = (expectedVersion: number): Partial<RunCommit> => {
      const letter = String.fromCharCode(97 + expectedVersion);
      const name = (n: number): string => `${letter}.${n}`;
      const value = JSON.stringify('"'.repeat(30_000));
      return {
        progress: { through: expectedVersion, above: Array.from({ length: MOST_ABOVE }, (_, n) => 1e9 + 2 * n) },
        dbChanges: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [name(n), value])),
        dedupe: Object.fromEntries(
          Array.from({ length: 256 }, (_, n) => [
            name(n),
            { strategy: 'unique', ids: Array.from({ length: 25 }, (__, id) => `${id}`.padEnd(112, '"')) } as const,
          ]),
        ),
        inbox: Array.from({ length: 256 }, (_, n) => `inv_${expectedVersion}_${n}`.padEnd(31, 'x')),
        records: [{ ...emit(expectedVersion), value: JSON.stringify('"'.repeat(3_000_000)) }],
      };
    };
    const removed = (names: Readonly<Record<string, unknown>> = {}): Record<string, null> =>
      Object.fromEntries(Object.keys(names).map((name) => [name, null]));

    it('of a commit at every limit at once is taken, also in place of another such state', async () => {
      await port().log.createTopic(TOPIC, {});
      const [first, second] = [fullest(0), fullest(1)];
      await port().journal.commit(commit(0, first));
      await port().journal.commit(
        commit(1, {
          ...second,
          dbChanges: { ...second.dbChanges, ...removed(first.dbChanges) },
          dedupe: { ...second.dedupe, ...removed(first.dedupe) },
        }),
      );
      const { db, dedupe, progress } = await port().journal.load('dc_1');
      expect([Object.keys(db).length, Object.keys(dedupe).length, progress.above.length]).toEqual([
        17,
        256,
        MOST_ABOVE,
      ]);
      await harness().flush();
      // A page may have a single record of this size.
      const [one] = await port().log.read(TOPIC, -1, 1);
      const [two] = await port().log.read(TOPIC, one?.offset ?? -1, 1);
      expect([one, two].map((record) => record?.headers['id'])).toEqual(['e0', 'e1']);
    }, 60_000);

    it('beyond what is ever taken refuses the commit for good, writes nothing of it, and lets the next one pass', async () => {
      await port().log.createTopic(TOPIC, {});
      const { journal } = port();
      await journal.commit(commit(0, { dbChanges: { a: '1' } }));
      const keys = Array.from({ length: 10_000 }, (_, n) => [`${n}`.padEnd(STATE_CHANGE_BYTES / 9_000, '.'), null]);
      const dbChanges = Object.fromEntries(keys) as Record<string, null>;
      const tooLarge = commit(1, { dbChanges: { a: '2', ...dbChanges }, records: [emit(1)], inbox: ['inv_1'] });
      await expect(journal.commit(tooLarge)).rejects.toThrow(CommitTooLarge);
      expect(await journal.load('dc_1')).toMatchObject({ version: 1, db: { a: '1' } });
      expect(await journal.seen('dc_1', ['inv_1'])).toEqual(new Set());
      await journal.commit(commit(1, { records: [emit(2)] }));
      await harness().flush();
      expect(await emitted(port())).toEqual(['e2']);
    });
  },

  owners: (port, harness) => {
    it('are told both versions', async () => {
      const { journal } = port();
      await journal.commit(commit(0));
      await journal.commit(commit(1));
      const error: unknown = await journal.commit(commit(1)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(StateConflict);
      expect(error).toMatchObject({ sourceId: 'dc_1', expected: 1, actual: 2 });
    });

    it('apply commits sent without waiting in call order', async () => {
      const { journal, log } = port();
      await log.createTopic(TOPIC, {});
      await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          journal.commit(commit(n, { records: [emit(n)], dbChanges: { n: `${n}` } })),
        ),
      );
      expect(await journal.load('dc_1')).toMatchObject({ version: 60, db: { n: '59' } });
      await harness().flush();
      expect(await emitted(port())).toEqual(Array.from({ length: 60 }, (_, n) => `e${n}`));
    });

    it('lose every commit sent after a refused one', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { lastEventId: 'other owner' }));
      const results = await Promise.allSettled(
        [0, 1, 2].map((n) => journal.commit(commit(n, { dbChanges: { a: `${n}` } }))),
      );
      expect(results[0]?.status).toBe('rejected');
      // If the first had succeeded, the second would expect version 1, which exists but belongs to the other owner.
      expect((await journal.load('dc_1')).version).toBeGreaterThanOrEqual(1);
      const late = await Promise.allSettled([5, 6, 7].map((n) => journal.commit(commit(n))));
      expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    });

    it('of different sources are independent', async () => {
      const { journal } = port();
      const sources = Array.from({ length: 40 }, (_, i) => `dc_${i}`);
      await Promise.all(sources.flatMap((sourceId) => [0, 1].map((n) => journal.commit(commit(n, { sourceId })))));
      for (const sourceId of sources) expect((await journal.load(sourceId)).version).toBe(2);
    });
  },

  inbox: (port) => {
    it('knows the invocations committed, by source', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { inbox: ['inv_1', 'inv_2'] }));
      expect(await journal.seen('dc_1', ['inv_2', 'inv_3'])).toEqual(new Set(['inv_2']));
      expect(await journal.seen('dc_2', ['inv_2'])).toEqual(new Set());
      expect(await journal.seen('dc_1', [])).toEqual(new Set());
    });

    it('remembers at least the last 1,000', async () => {
      const { journal } = port();
      const all = Array.from({ length: 2600 }, (_, i) => `inv_${i}`);
      await Promise.all(
        Array.from({ length: 26 }, (_, n) => journal.commit(commit(n, { inbox: all.slice(n * 100, n * 100 + 100) }))),
      );
      const newest = all.slice(-1000);
      expect((await journal.seen('dc_1', newest)).size).toBe(1000);
      expect((await journal.seen('dc_1', all)).size).toBeLessThan(2600);
      const listed = await journal.inbox('dc_1');
      expect(listed.length).toBeGreaterThanOrEqual(1000);
      expect(listed).toEqual(all.slice(-listed.length));
    });

    it('counts a repeated id as new', async () => {
      const { journal } = port();
      const fill = (n: number): string[] => Array.from({ length: 900 }, (_, i) => `inv_${n}_${i}`);
      await journal.commit(commit(0, { inbox: ['again', 'once', ...fill(0)] }));
      await journal.commit(commit(1, { inbox: ['again', ...fill(1)] }));
      expect(await journal.seen('dc_1', ['again'])).toEqual(new Set(['again']));
      const listed = await journal.inbox('dc_1');
      expect(listed.filter((id) => id === 'again')).toHaveLength(1);
      expect(listed.indexOf('again')).toBeGreaterThan(listed.indexOf('inv_0_899'));
    });
  },

  heard: (port, harness) => {
    const progress = (through: number, ...above: number[]): EmitProgress => ({
      through: positionOf(through),
      above: above.map(positionOf),
    });
    const positionOf = (n: number): string => `${String(1_700_000_000_000 + n).padStart(15, '0')}-0000000000`;

    it('keeps the progress of each emitter and subscription that a commit names, until one forgets it', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { heard: { 'dc_a/sub_1': progress(4, 6, 9), 'dc_b/sub_1': progress(2) } }));
      await journal.commit(commit(1));
      await journal.commit(commit(2, { heard: { 'dc_a/sub_1': progress(9), 'dc_a/sub_2': progress(7, 8) } }));
      const kept = { 'dc_a/sub_1': progress(9), 'dc_a/sub_2': progress(7, 8) };
      expect((await journal.load('dc_1')).heard).toEqual({ ...kept, 'dc_b/sub_1': progress(2) });
      await journal.commit(commit(3, { heard: { 'dc_b/sub_1': null, 'dc_c/sub_1': null } }));
      expect((await journal.load('dc_1')).heard).toEqual(kept);
      const again = await harness().reopen();
      expect((await again.journal.load('dc_1')).heard).toEqual(kept);
      expect((await again.journal.load('dc_2')).heard).toEqual({});
      await again.journal.drop('dc_1');
      expect((await again.journal.load('dc_1')).heard).toEqual({});
    });

    it('is not that of a commit that is refused', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { heard: { 'dc_a/sub_1': progress(4) } }));
      await expect(journal.commit(commit(0, { heard: { 'dc_a/sub_1': progress(5) } }))).rejects.toThrow(StateConflict);
      expect((await journal.load('dc_1')).heard).toEqual({ 'dc_a/sub_1': progress(4) });
    });

    it('of thousands of emitters is kept whole', async () => {
      const { journal } = port();
      const heard = Object.fromEntries(
        Array.from({ length: HEARD_LIMIT }, (_, n) => [`dc_${n}/sub_1`, progress(n, n + 2)]),
      );
      await journal.commit(commit(0, { heard }));
      expect((await journal.load('dc_1')).heard).toEqual(heard);
    });
  },

  listing: (port) => {
    it('yields every source with state once, with its remembered ids, oldest first', async () => {
      const { journal } = port();
      const ids = async (): Promise<string[]> => {
        const found: string[] = [];
        for await (const sourceId of journal.sources()) found.push(sourceId);
        return found.sort();
      };
      expect(await ids()).toEqual([]);
      expect(await journal.inbox('dc_1')).toEqual([]);
      const sources = Array.from({ length: 450 }, (_, i) => `dc_${i}`).sort();
      await Promise.all(sources.map((sourceId) => journal.commit(commit(0, { sourceId, inbox: ['z', 'a', 'm'] }))));
      expect(await ids()).toEqual(sources);
      expect(await journal.inbox('dc_7')).toEqual(['z', 'a', 'm']);
      await journal.drop('dc_7');
      expect(await ids()).toEqual(sources.filter((id) => id !== 'dc_7'));
    });
  },

  drop: (port) => {
    it('forgets a source completely, twice without harm, and no other source', async () => {
      const { journal } = port();
      await journal.commit(
        commit(0, { inbox: ['inv_1'], dbChanges: { a: '1' }, dedupe: { '': { strategy: 'last', id: 'x' } } }),
      );
      await journal.commit(commit(0, { sourceId: 'dc_2' }));
      await journal.drop('dc_1');
      await journal.drop('dc_1');
      expect(await journal.load('dc_1')).toMatchObject({ version: 0, db: {}, dedupe: {}, lastEventId: '' });
      expect(await journal.seen('dc_1', ['inv_1'])).toEqual(new Set());
      expect((await journal.load('dc_2')).version).toBe(1);
      await journal.commit(commit(0));
    });
  },

  restart: (port, harness) => {
    it('finds state, inbox and emits unchanged', async () => {
      await port().log.createTopic(TOPIC, {});
      await port().journal.commit(commit(0, { inbox: ['inv_1'], dbChanges: { a: '1' }, records: [emit(1)] }));
      const before = await port().journal.load('dc_1');
      const { journal, log } = await harness().reopen();
      expect(await journal.load('dc_1')).toEqual(before);
      expect(await journal.seen('dc_1', ['inv_1'])).toEqual(new Set(['inv_1']));
      await journal.commit(commit(1, { records: [emit(2)] }));
      await harness().flush();
      expect(await emitted({ journal, log })).toEqual(['e1', 'e2']);
    });
  },
};
