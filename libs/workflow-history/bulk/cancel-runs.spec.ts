import { describe, expect, it } from '@jest/globals';
import { errorOf } from '#libs/http/testing/replies.js';
import { changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { cancel, fail, start, succeed } from '#libs/workflow-runs/testing/run-samples.js';
import { run, useWorld } from '../testing/history-world.js';

const world = useWorld();
const CANCEL = '/v1/workflows/p_1/runs/cancel';

// docs/reference/workflows.md#bulk-cancel
describe('a cancellation in bulk', () => {
  const queued = changesOf(run(1));
  const running = changesOf(run(2), start(2));
  const done = changesOf(run(3), start(2), succeed(3, 1), succeed(4, 2));
  const test = changesOf(run(4, { test: true }), start(2));
  const other = changesOf(run(5, { workflowId: 'p_2' }), start(2));

  const selected = async (body: object): Promise<readonly [number, readonly string[]]> => {
    const { call, cancels, happened } = await world();
    await happened(...queued, ...running, ...done, ...test, ...other);
    const reply = await call('post', CANCEL).send(body);
    expect(reply.status).toBe(202);
    const { matched } = (reply.body as { data: { matched: number } }).data;
    return [matched, [...(cancels[0]?.runs ?? [])].sort()];
  };

  it('asks for the unfinished runs that are named, once each', async () => {
    const ids = ['run_1', 'run_2', 'run_2', 'run_3', 'run_4', 'run_5', 'run_none', 'dc_1', ''];
    expect(await selected({ run_ids: ids })).toEqual([3, ['run_1', 'run_2', 'run_4']]);
  });

  it.each([
    [{ state: 'running' }, ['run_2']],
    [{ state: 'succeeded,queued' }, ['run_1']],
    [{ state: 'failed' }, []],
    [{ since: 1_700_000_002 }, ['run_2']],
    [{ until: '1700000001' }, ['run_1']],
    [{ q: 'run_2', state: null }, ['run_2']],
  ])('asks for the unfinished live runs of its filter: %j', async (filter, expected) => {
    expect(await selected({ filter })).toEqual([expected.length, expected]);
  });

  it.each([
    [{}, 'missing_parameter'],
    [{ filter: null }, 'missing_parameter'],
    [{ run_ids: ['run_1'], filter: { q: 'x' } }, 'invalid_parameter'],
    [{ filter: {} }, 'invalid_parameter'],
    [{ filter: { state: '', since: null } }, 'invalid_parameter'],
    [{ filter: { stat: 'failed' } }, 'invalid_parameter'],
    [{ filter: { version: 1 } }, 'invalid_parameter'],
    [{ filter: { state: 'broken' } }, 'invalid_parameter'],
    [{ filter: ['state'] }, 'invalid_parameter'],
    [{ filter: 'failed' }, 'invalid_parameter'],
    [{ run_ids: [] }, 'invalid_parameter'],
    [{ run_ids: [1] }, 'invalid_parameter'],
    [{ run_ids: Array.from({ length: 1_001 }, () => 'run_1') }, 'invalid_parameter'],
  ])('refuses what selects nothing or everything, case %#', async (body, code) => {
    const { call, cancels, happened } = await world();
    await happened(...queued);
    const reply = await call('post', CANCEL).send(body);
    expect([reply.status, errorOf(reply).code, cancels]).toEqual([400, code, []]);
  });

  it('says who asked, and is the same for a repeat of its request', async () => {
    const { call, cancels, happened } = await world();
    await happened(...queued);
    for (const key of ['k1', 'k2']) {
      const reply = await call('post', CANCEL)
        .set('Idempotency-Key', key)
        .send({ run_ids: ['run_1'] });
      expect(reply.status).toBe(202);
    }
    const [first, second] = cancels;
    expect(first).toMatchObject({ workflowId: 'p_1', workspaceId: 'o_1', by: { userId: expect.any(String) } });
    expect(first?.cause).not.toBe(second?.cause);
  });

  it('asks for nothing when no run is selected, and only in a workflow of the caller', async () => {
    const { call, cancels, happened } = await world();
    await happened(...changesOf(run(1), start(2), fail(3, 1, 'E_X')), ...changesOf(run(2), cancel(2)));
    const none = await call('post', CANCEL).send({ run_ids: ['run_1', 'run_2'] });
    expect([none.status, none.body, cancels]).toEqual([202, { data: { matched: 0 } }, []]);
    const foreign = await call('post', '/v1/workflows/p_other/runs/cancel').send({ run_ids: ['run_1'] });
    expect([foreign.status, errorOf(foreign).code]).toEqual([404, 'workflow_not_found']);
  });
});
