import { expect, it } from '@jest/globals';
import { HEARD_LIMIT } from '#libs/runner/heard-emits.js';
import { heardParts, headOf } from '#libs/runner/lane-state.js';
import { MOST_ABOVE } from '#libs/runner/lane-tracker.js';
import { CommitTooLarge, STATE_CHANGE_BYTES, StateConflict, type RunCommit } from '#libs/runner/run-journal.js';
import { partsOf } from '#libs/runner/source/source-state.js';
import { type MakeHarness, type Part } from './harness.js';
import { eventually } from './eventually.js';
import { commit, DC_1, DC_2, emit, emitted, type JournalAndLog, TOPIC } from './run-journal-commits.js';
import { runsPart } from './run-journal-runs.suite.js';
import { runParts } from './run-parts.js';

export const RUN_JOURNAL_PARTS = [
  'state',
  'atomicity',
  'size',
  'owners',
  'inbox',
  'runs',
  'listing',
  'drop',
  'restart',
] as const;

export const describeRunJournal = (name: string, make: MakeHarness<JournalAndLog>): void =>
  runParts(`RunJournal: ${name}`, RUN_JOURNAL_PARTS, parts, make);

const parts: Record<(typeof RUN_JOURNAL_PARTS)[number], Part<JournalAndLog>> = {
  state: (port) => {
    it('of an executable that never committed is empty', async () => {
      expect(await port().journal.load({ executable: 'dc_new' })).toEqual({ version: 0, head: '', parts: {} });
    });

    it('adds up over commits: the head and changed parts replace, others stay', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { parts: { a: '1', b: '{"x":"ü"}', c: 'null' } }));
      await journal.commit(commit(1, { parts: { a: '2', b: null, missing: null, d: '' } }));
      expect(await journal.load(DC_1)).toEqual({ version: 2, head: 'head 1', parts: { a: '2', c: 'null', d: '' } });
      expect(await journal.partsOf(DC_1)).toEqual({ a: '2', c: 'null', d: '' });
      expect(await journal.partsOf(DC_2)).toEqual({});
    });

    it('takes any text as a name, and gets a removed name back', async () => {
      const { journal } = port();
      const names = ['', '.', 'a.b', '$x', '%0024', '__proto__', 'constructor', '5', 'naïve 😀', 'x'.repeat(200)];
      const parts = Object.fromEntries([...names, 'nul\0'].map((name) => [`db/${name}`, JSON.stringify(name)]));
      await journal.commit(commit(0, { parts }));
      expect((await journal.load(DC_1)).parts).toEqual(parts);
      await journal.commit(commit(1, { parts: { 'db/a.b': null, 'db/': null } }));
      const { 'db/a.b': _, 'db/': __, ...left } = parts;
      expect((await journal.load(DC_1)).parts).toEqual(left);
      await journal.commit(commit(2, { parts: { 'db/a.b': 'again' } }));
      expect((await journal.load(DC_1)).parts).toEqual({ ...left, 'db/a.b': 'again' });
    });

    it('of one executable is not that of another', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { parts: { a: '1' } }));
      await journal.commit(commit(0, { ...DC_2, parts: { a: '2' } }));
      expect([(await journal.load(DC_1)).parts, (await journal.load(DC_2)).parts]).toEqual([{ a: '1' }, { a: '2' }]);
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
      const refused = commit(0, { records: [emit(2)], parts: { a: '1' }, inbox: ['inv_2'] });
      await expect(journal.commit(refused)).rejects.toThrow(StateConflict);
      await harness().flush();
      expect(await emitted(port())).toEqual(['e1']);
      expect((await journal.load(DC_1)).parts).toEqual({});
      expect(await journal.seen(DC_1, ['inv_2'])).toEqual(new Set());
    });

    it('drops the emits of a source whose topic is gone, and keeps the rest', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { records: [emit(1)], parts: { a: '1' } }));
      expect((await journal.load(DC_1)).parts).toEqual({ a: '1' });
    });
  },

  size: (port, harness) => {
    /** Every limit of a source reached at once. */
    const fullest = (expectedVersion: number): Partial<RunCommit> => {
      const letter = String.fromCharCode(97 + expectedVersion);
      const name = (n: number): string => `${letter}.${n}`;
      const value = JSON.stringify('"'.repeat(30_000));
      return {
        head: headOf({
          progress: { through: expectedVersion, above: Array.from({ length: MOST_ABOVE }, (_, n) => 1e9 + 2 * n) },
          lastEventId: '1700000000000-0',
        }),
        parts: {
          ...partsOf({
            db: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [name(n), value])),
            dedupe: Object.fromEntries(
              Array.from({ length: 256 }, (_, n) => [
                name(n),
                { strategy: 'unique', ids: Array.from({ length: 25 }, (__, id) => `${id}`.padEnd(112, '"')) } as const,
              ]),
            ),
          }),
          ...heardParts(
            Object.fromEntries(
              Array.from({ length: HEARD_LIMIT }, (_, n) => [
                `dc_${letter}${n}/sub_1`,
                { through: `1700000000000-${n}`, above: [`1700000000001-${n}`] },
              ]),
            ),
          ),
        },
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
      await port().journal.commit(commit(1, { ...second, parts: { ...removed(first.parts), ...second.parts } }));
      expect(await port().journal.load(DC_1)).toEqual({ version: 2, head: second.head, parts: second.parts });
      await harness().flush();
      // A page may have a single record of this size.
      const [one] = await port().log.read(TOPIC, -1, 1);
      const [two] = await port().log.read(TOPIC, one?.offset ?? -1, 1);
      expect([one, two].map((record) => record?.headers['id'])).toEqual(['e0', 'e1']);
    }, 60_000);

    it('beyond what is ever taken refuses the commit for good, writes nothing of it, and lets the next one pass', async () => {
      await port().log.createTopic(TOPIC, {});
      const { journal } = port();
      await journal.commit(commit(0, { parts: { a: '1' } }));
      const keys = Array.from({ length: 10_000 }, (_, n) => [`${n}`.padEnd(STATE_CHANGE_BYTES / 9_000, '.'), null]);
      const removals = Object.fromEntries(keys) as Record<string, null>;
      const tooLarge = commit(1, { parts: { a: '2', ...removals }, records: [emit(1)], inbox: ['inv_1'] });
      await expect(journal.commit(tooLarge)).rejects.toThrow(CommitTooLarge);
      expect(await journal.load(DC_1)).toMatchObject({ version: 1, parts: { a: '1' } });
      expect(await journal.seen(DC_1, ['inv_1'])).toEqual(new Set());
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
      expect(error).toMatchObject({ state: 'dc_1', expected: 1, actual: 2 });
    });

    it('apply commits sent without waiting in call order', async () => {
      const { journal, log } = port();
      await log.createTopic(TOPIC, {});
      await Promise.all(
        Array.from({ length: 60 }, (_, n) => journal.commit(commit(n, { records: [emit(n)], parts: { n: `${n}` } }))),
      );
      expect(await journal.load(DC_1)).toMatchObject({ version: 60, parts: { n: '59' } });
      await harness().flush();
      expect(await emitted(port())).toEqual(Array.from({ length: 60 }, (_, n) => `e${n}`));
    });

    it('lose every commit sent after a refused one', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { head: 'other owner' }));
      const results = await Promise.allSettled(
        [0, 1, 2].map((n) => journal.commit(commit(n, { parts: { a: `${n}` } }))),
      );
      expect(results[0]?.status).toBe('rejected');
      // If the first had succeeded, the second would expect version 1, which exists but belongs to the other owner.
      expect((await journal.load(DC_1)).version).toBeGreaterThanOrEqual(1);
      const late = await Promise.allSettled([5, 6, 7].map((n) => journal.commit(commit(n))));
      expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    });

    it('of different executables are independent', async () => {
      const { journal } = port();
      const keys = Array.from({ length: 40 }, (_, i) => ({ executable: `dc_${i}` }));
      await Promise.all(keys.flatMap((key) => [0, 1].map((n) => journal.commit(commit(n, key)))));
      for (const key of keys) expect((await journal.load(key)).version).toBe(2);
    });
  },

  inbox: (port) => {
    it('knows the invocations committed, by executable', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { inbox: ['inv_1', 'inv_2'] }));
      expect(await journal.seen(DC_1, ['inv_2', 'inv_3'])).toEqual(new Set(['inv_2']));
      expect(await journal.seen(DC_2, ['inv_2'])).toEqual(new Set());
      expect(await journal.seen(DC_1, [])).toEqual(new Set());
    });

    it('remembers at least the last 1,000', async () => {
      const { journal } = port();
      const all = Array.from({ length: 2600 }, (_, i) => `inv_${i}`);
      await Promise.all(
        Array.from({ length: 26 }, (_, n) => journal.commit(commit(n, { inbox: all.slice(n * 100, n * 100 + 100) }))),
      );
      const newest = all.slice(-1000);
      expect((await journal.seen(DC_1, newest)).size).toBe(1000);
      expect((await journal.seen(DC_1, all)).size).toBeLessThan(2600);
      const listed = await journal.inbox(DC_1);
      expect(listed.length).toBeGreaterThanOrEqual(1000);
      expect(listed).toEqual(all.slice(-listed.length));
    });

    it('counts a repeated id as new', async () => {
      const { journal } = port();
      const fill = (n: number): string[] => Array.from({ length: 900 }, (_, i) => `inv_${n}_${i}`);
      await journal.commit(commit(0, { inbox: ['again', 'once', ...fill(0)] }));
      await journal.commit(commit(1, { inbox: ['again', ...fill(1)] }));
      expect(await journal.seen(DC_1, ['again'])).toEqual(new Set(['again']));
      const listed = await journal.inbox(DC_1);
      expect(listed.filter((id) => id === 'again')).toHaveLength(1);
      expect(listed.indexOf('again')).toBeGreaterThan(listed.indexOf('inv_0_899'));
    });
  },

  runs: runsPart,

  listing: (port) => {
    it('yields every executable with a state once, but not its runs, with its remembered ids, oldest first', async () => {
      const { journal } = port();
      const ids = async (): Promise<string[]> => {
        const found: string[] = [];
        for await (const executable of journal.executables()) found.push(executable);
        return found.sort();
      };
      expect(await ids()).toEqual([]);
      expect(await journal.inbox(DC_1)).toEqual([]);
      const sources = Array.from({ length: 450 }, (_, i) => `dc_${i}`).sort();
      const inbox = ['z', 'a', 'm'];
      await Promise.all(sources.map((executable) => journal.commit(commit(0, { executable, inbox }))));
      await Promise.all([1, 2].map((n) => journal.commit(commit(0, { executable: 'dc_7', run: `run_${n}` }))));
      expect(await ids()).toEqual(sources);
      expect(await journal.inbox({ executable: 'dc_7' })).toEqual(['z', 'a', 'm']);
      await journal.drop('dc_7');
      expect(await ids()).toEqual(sources.filter((id) => id !== 'dc_7'));
    });
  },

  drop: (port) => {
    it('forgets an executable completely, twice without harm, and no other', async () => {
      const { journal } = port();
      await journal.commit(commit(0, { inbox: ['inv_1'], parts: { a: '1' } }));
      await journal.commit(commit(0, DC_2));
      await journal.drop('dc_1');
      await journal.drop('dc_1');
      expect(await journal.load(DC_1)).toEqual({ version: 0, head: '', parts: {} });
      expect(await journal.seen(DC_1, ['inv_1'])).toEqual(new Set());
      expect((await journal.load(DC_2)).version).toBe(1);
      await journal.commit(commit(0));
    });
  },

  restart: (port, harness) => {
    it('finds state, inbox and emits unchanged', async () => {
      await port().log.createTopic(TOPIC, {});
      await port().journal.commit(commit(0, { inbox: ['inv_1'], parts: { a: '1' }, records: [emit(1)] }));
      const before = await port().journal.load(DC_1);
      const { journal, log } = await harness().reopen();
      expect(await journal.load(DC_1)).toEqual(before);
      expect(await journal.seen(DC_1, ['inv_1'])).toEqual(new Set(['inv_1']));
      await journal.commit(commit(1, { records: [emit(2)] }));
      await harness().flush();
      expect(await emitted({ journal, log })).toEqual(['e1', 'e2']);
    });
  },
};
