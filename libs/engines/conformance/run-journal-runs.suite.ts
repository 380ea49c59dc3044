import { expect, it } from '@jest/globals';
import { type StateKey } from '#libs/runner/run-journal.js';
import { type Part } from './harness.js';
import { commit, emit, emitted, type JournalAndLog, TOPIC } from './run-journal-commits.js';

/** 100,000 waiting runs of one workflow have a state each, so none of what follows may depend on their number. */
export const runsPart: Part<JournalAndLog> = (port, harness) => {
  const run = (n: number, executable = 'p_1'): Required<StateKey> => ({
    executable,
    run: `run_${String(n).padStart(6, '0')}`,
  });
  const idsOf = async (executable = 'p_1', after = '', limit = 10_000): Promise<readonly string[]> =>
    (await port().journal.runs(executable, after, limit)).map((each) => each.run);

  it('have a state each, which is not that of their executable', async () => {
    const { journal } = port();
    await journal.commit(commit(0, { executable: 'p_1', head: 'own', parts: { a: 'own' }, inbox: ['inv_1'] }));
    await journal.commit(commit(0, { ...run(1), parts: { a: 'one' }, inbox: ['inv_2'] }));
    await journal.commit(commit(0, { ...run(2), parts: { a: 'two' } }));
    await journal.commit(commit(1, { ...run(2), parts: { b: 'more' } }));
    await journal.commit(commit(0, { ...run(1, 'p_10'), parts: { a: 'other' } }));
    const again = (await harness().reopen()).journal;
    expect(await again.load({ executable: 'p_1' })).toEqual({ version: 1, head: 'own', parts: { a: 'own' } });
    expect(await again.load(run(1))).toEqual({ version: 1, head: 'head 0', parts: { a: 'one' } });
    expect(await again.load(run(2))).toEqual({ version: 2, head: 'head 1', parts: { a: 'two', b: 'more' } });
    expect(await again.load(run(1, 'p_10'))).toMatchObject({ version: 1, parts: { a: 'other' } });
    expect(await again.load(run(3))).toMatchObject({ version: 0 });
    expect(await again.seen(run(1), ['inv_1', 'inv_2'])).toEqual(new Set(['inv_2']));
    expect(await again.inbox({ executable: 'p_1' })).toEqual(['inv_1']);
  });

  it('are guarded each by its own version, which the error names', async () => {
    const { journal } = port();
    await journal.commit(commit(0, run(1)));
    await journal.commit(commit(1, run(1)));
    await journal.commit(commit(0, run(2)));
    const refused = journal.commit(commit(1, { ...run(1), parts: { a: '1' } }));
    await expect(refused).rejects.toMatchObject({ state: 'p_1/run_000001', expected: 1, actual: 2 });
    expect((await journal.load(run(1))).parts).toEqual({});
  });

  it('write their records, in the order of the commits of each', async () => {
    const { journal, log } = port();
    await log.createTopic(TOPIC, {});
    await Promise.all(
      [0, 1, 2].flatMap((version) =>
        [1, 2].map((n) => journal.commit(commit(version, { ...run(n), records: [emit(10 * n + version)] }))),
      ),
    );
    await harness().flush();
    const ids = await emitted(port());
    expect(ids.filter((id) => id?.startsWith('e1'))).toEqual(['e10', 'e11', 'e12']);
    expect(ids.filter((id) => id?.startsWith('e2'))).toEqual(['e20', 'e21', 'e22']);
  });

  it('are listed by pages in the order of their ids, with their heads', async () => {
    const { journal } = port();
    const numbers = Array.from({ length: 25 }, (_, n) => n);
    const shuffled = [...numbers].sort((a, b) => ((7 * a) % 25) - ((7 * b) % 25));
    await Promise.all(shuffled.map((n) => journal.commit(commit(0, { ...run(n), head: `head of ${n}` }))));
    await Promise.all(['p_0', 'p_10', 'p_2'].map((other) => journal.commit(commit(0, run(99, other)))));
    await journal.commit(commit(0, { executable: 'p_1' }));
    const first = await journal.runs('p_1', '', 10);
    expect(first).toEqual(numbers.slice(0, 10).map((n) => ({ run: run(n).run, version: 1, head: `head of ${n}` })));
    const second = await idsOf('p_1', first.at(-1)?.run, 10);
    const third = await idsOf('p_1', second.at(-1), 10);
    expect([...second, ...third]).toEqual(numbers.slice(10).map((n) => run(n).run));
    expect(await idsOf('p_1', third.at(-1))).toEqual([]);
    expect(await idsOf('p_none')).toEqual([]);
  });

  it('go only once their records are in the log', async () => {
    const { journal, log } = port();
    await log.createTopic(TOPIC, {});
    await journal.commit(commit(0, { ...run(1), records: [emit(1)] }));
    await journal.dropRun(run(1));
    expect(await emitted(port())).toEqual(['e1']);
    expect(await journal.load(run(1))).toMatchObject({ version: 0 });
  });

  it('go one by one, and all of them with their executable', async () => {
    const { journal, log } = port();
    await log.createTopic(TOPIC, {});
    const all = Array.from({ length: 1_200 }, (_, n) => run(n));
    await Promise.all(all.map((key) => journal.commit(commit(0, { ...key, parts: { a: '1' }, inbox: ['inv_1'] }))));
    await journal.commit(commit(0, { executable: 'p_1', parts: { a: '1' } }));
    await journal.commit(commit(0, run(1, 'p_10')));
    await journal.dropRun(run(7));
    await journal.dropRun(run(7));
    expect(await journal.load(run(7))).toEqual({ version: 0, head: '', parts: {} });
    expect(await journal.seen(run(7), ['inv_1'])).toEqual(new Set());
    expect(await idsOf()).toEqual(all.filter((_, n) => n !== 7).map((key) => key.run));
    await journal.commit(commit(0, run(7)));
    await journal.drop('p_1');
    await journal.drop('p_1');
    expect(await idsOf()).toEqual([]);
    expect(await journal.load(run(8))).toEqual({ version: 0, head: '', parts: {} });
    expect(await journal.load({ executable: 'p_1' })).toMatchObject({ version: 0 });
    expect(await idsOf('p_10')).toEqual([run(1).run]);
    await journal.commit(commit(0, { ...run(8), records: [emit(8)] }));
    await harness().flush();
    expect(await emitted(port())).toEqual(['e8']);
  }, 60_000);
};
