import { expect, it } from '@jest/globals';
import { type SendOutcome } from '#libs/stream-log/message-records.js';
import { type RunHistory } from '#libs/workflow-history/run-history.js';
import { type RunOrigin } from '#libs/workflow-runs/run-facts.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { type RunState } from '#libs/workflow-runs/run-state.js';
import { changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { start, succeed } from '#libs/workflow-runs/testing/run-samples.js';
import { type Part } from './harness.js';

/** What became of the messages of runs. */
export const sendsPart: Part<RunHistory> = (store) => {
  const succeeded = (of: Partial<RunOrigin>): RunChange[] =>
    changesOf(of, start(1_001), succeed(1_002, 1), succeed(1_003, 2));
  const textsOf = async (history: RunHistory): Promise<RunState['parts']> =>
    (await history.whole('run_1'))?.state.parts ?? {};
  const sent = (of: Partial<SendOutcome> = {}): SendOutcome => ({
    id: 'snd_1',
    runId: 'run_1',
    workflowId: 'p_1',
    workspaceId: 'o_1',
    namespace: '$a',
    execution: 1,
    index: 0,
    state: 'queued',
    attempts: 1,
    status: 503,
    error: 'status 503',
    ...of,
  });
  const done = sent({ state: 'sent', attempts: 2, status: 200, error: null });
  const known = async (index = 0): Promise<unknown> => {
    const text = (await textsOf(store()))[`sent/$a/${index}`];
    if (text === undefined) return undefined;
    const { id, state, attempts, status, error } = JSON.parse(text) as SendOutcome;
    return [id, state, attempts, status, error];
  };

  it('are known with the run, each at its place, also once it has ended', async () => {
    await store().apply(changesOf({}, start(1_001)));
    await store().applySends([sent(), sent({ id: 'snd_2', index: 1, status: null, error: 'ECONNREFUSED' })]);
    expect(await known()).toEqual(['snd_1', 'queued', 1, 503, 'status 503']);
    await store().apply(succeeded({}));
    await store().applySends([done]);
    expect(await known()).toEqual(['snd_1', 'sent', 2, 200, null]);
    expect(await known(1)).toEqual(['snd_2', 'queued', 1, null, 'ECONNREFUSED']);
    expect((await store().find('run_1'))?.state.head.status).toBe('succeeded');
    await store().applySends([]);
  });
  it('that come again, or late, or in another order change nothing', async () => {
    await store().apply(succeeded({}));
    await store().applySends([done, sent()]);
    await store().applySends([sent()]);
    await Promise.all([store().applySends([done]), store().applySends([sent(), done])]);
    expect(await known()).toEqual(['snd_1', 'sent', 2, 200, null]);
    await store().applySends([sent({ id: 'snd_3', execution: 2 })]);
    await store().applySends([done]);
    expect(await known()).toEqual(['snd_3', 'queued', 1, 503, 'status 503']);
  });
  it('of an unknown or removed run leave nothing', async () => {
    await store().applySends([sent()]);
    await store().apply(succeeded({}));
    expect(await known()).toBeUndefined();
    await store().applySends([sent()]);
    await store().remove(['run_1']);
    await store().applySends([done, sent({ runId: 'run_2' })]);
    expect(await store().whole('run_1')).toBeUndefined();
    await store().apply([...changesOf({}), ...changesOf({ id: 'run_2' })]);
    expect([await known(), Object.keys((await store().whole('run_2'))?.state.parts ?? {})]).toEqual([
      undefined,
      expect.not.arrayContaining(['sent/$a/0']),
    ]);
  });
  it('move with the run', async () => {
    await store().apply(succeeded({}));
    await store().applySends([done]);
    const stored = (await store().whole('run_1'))?.state;
    if (!stored) throw new Error('the run is not there');
    const { head, parts } = stored;
    const moved = { runId: 'run_7', workflowId: 'p_1', workspaceId: 'o_1', version: 1, head, parts };
    await store().apply([moved]);
    const places = async () => Object.entries((await store().whole('run_7'))?.state.parts ?? {});
    expect(await places()).toEqual(expect.arrayContaining([['sent/$a/0', parts['sent/$a/0']]]));
    await store().applySends([sent({ runId: 'run_7', attempts: 3 })]);
    const [, text = ''] = (await places()).find(([name]) => name === 'sent/$a/0') ?? [];
    expect(JSON.parse(text)).toMatchObject({ attempts: 3 });
  });
};
