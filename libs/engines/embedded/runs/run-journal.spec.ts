import { describe, expect, it } from '@jest/globals';
import { type RunCommit, StateConflict } from '#libs/runner/run-journal.js';
import { type EmbeddedEngines } from '../index.js';
import { enginesForEach } from '../testing/engines-for-each.js';

const data = enginesForEach('run-journal');

const commit = (expectedVersion: number, topics: readonly string[]): RunCommit => ({
  executable: 'dc_1',
  expectedVersion,
  head: String(expectedVersion),
  parts: {},
  inbox: [],
  records: topics.map((topic, n) => ({ topic, key: 'k', headers: {}, value: `"${expectedVersion}.${n}"` })),
});

const TOPICS = ['emits.dc_1', 'invocations.dc_2', 'deliveries.wh_1'];

const valuesOf = async ({ log }: EmbeddedEngines): Promise<readonly (readonly string[])[]> =>
  Promise.all(TOPICS.map(async (topic) => (await log.read(topic, -1, 100)).map(({ value }) => value)));

describe('a commit of a run with records for listeners', () => {
  it('writes all of them or none, also when the process restarts', async () => {
    const engines = await data.open();
    for (const topic of TOPICS) await engines.log.createTopic(topic, {});
    await engines.journal.commit(commit(0, ['emits.dc_1', 'deliveries.wh_1', 'emits.dc_1', 'invocations.dc_2']));
    await expect(engines.journal.commit(commit(0, TOPICS))).rejects.toThrow(StateConflict);
    const expected = [['"0.0"', '"0.2"'], ['"0.3"'], ['"0.1"']];
    expect(await valuesOf(engines)).toEqual(expected);
    await engines.close();
    expect(await valuesOf(await data.open())).toEqual(expected);
  });

  it('leaves out those of a listener that is gone, and wakes the others', async () => {
    const engines = await data.open();
    for (const topic of TOPICS) await engines.log.createTopic(topic, {});
    await engines.log.deleteTopic('invocations.dc_2');
    const heard = new Promise<string>((resolve) => {
      void engines.log.consume({
        group: 'webhook-worker',
        topics: { prefix: 'deliveries.' },
        maxBatch: 10,
        maxUnacked: 10,
        async handler({ records, ack }) {
          for (const { offset } of records) ack(offset);
          resolve(records.map(({ value }) => value).join());
        },
      });
    });
    await engines.journal.commit(commit(0, TOPICS));
    expect(await heard).toBe('"0.2"');
    expect(await valuesOf(engines)).toEqual([['"0.0"'], [], ['"0.2"']]);
  });
});

describe('commits of several states', () => {
  const ofRun = (run: string, expectedVersion: number): RunCommit => ({
    ...commit(expectedVersion, TOPICS.slice(0, 1)),
    run,
  });
  const statesOf = async ({ journal }: EmbeddedEngines): Promise<readonly number[]> =>
    Promise.all(
      [{ executable: 'dc_1' }, { executable: 'dc_1', run: 'a' }, { executable: 'dc_1', run: 'b' }].map(
        async (key) => (await journal.load(key)).version,
      ),
    );

  it('are one write, in their order', async () => {
    const engines = await data.open();
    for (const topic of TOPICS) await engines.log.createTopic(topic, {});
    const before = engines.stats().commits;
    await engines.journal.commitAll?.([ofRun('a', 0), ofRun('b', 0), commit(0, TOPICS.slice(0, 2))]);
    expect(engines.stats().commits - before).toBe(1);
    expect(await statesOf(engines)).toEqual([1, 1, 1]);
    expect((await valuesOf(engines)).map(({ length }) => length)).toEqual([3, 1, 0]);
  });

  it('are not written when one of them is refused', async () => {
    const engines = await data.open();
    for (const topic of TOPICS) await engines.log.createTopic(topic, {});
    await engines.journal.commit(ofRun('b', 0));
    await expect(engines.journal.commitAll?.([ofRun('a', 0), ofRun('b', 0), commit(0, TOPICS)])).rejects.toThrow(
      StateConflict,
    );
    expect(await statesOf(engines)).toEqual([0, 0, 1]);
    expect((await valuesOf(engines)).map(({ length }) => length)).toEqual([1, 0, 0]);
    await engines.journal.commit(ofRun('a', 0));
    expect(await statesOf(engines)).toEqual([0, 1, 1]);
  });
});
