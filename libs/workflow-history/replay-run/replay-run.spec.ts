import { describe, expect, it } from '@jest/globals';
import { errorOf } from '#libs/http/testing/replies.js';
import { changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { cancel, fail, start, succeed } from '#libs/workflow-runs/testing/run-samples.js';
import { LIVE, run, useWorld } from '../testing/history-world.js';

const world = useWorld();

// docs/reference/workflows.md#run-replay
describe('a replay', () => {
  const failedAtB = changesOf(run(1), start(2), succeed(3, 1), fail(4, 2, 'E_X'));

  it('is answered with the run as it arrived, with the steps that it reuses', async () => {
    const { call, happened, replayed } = await world();
    await happened(...failedAtB);
    const reply = await call('post', '/v1/runs/run_1/replay?from=failed');
    expect([reply.status, reply.body]).toEqual([
      202,
      {
        data: expect.objectContaining({
          id: 'run_9',
          state: 'queued',
          replay_of: 'run_1',
          replay_from: 'failed',
          event: { a: 1 },
          steps: [
            expect.objectContaining({ namespace: 'a', state: 'succeeded', reused: true }),
            expect.objectContaining({ namespace: 'b', state: 'pending', reused: false }),
          ],
        }),
      },
    ]);
    expect(replayed).toMatchObject([{ origin: { keyRun: 'run_1' }, reused: [{ namespace: 'a' }] }]);
  });

  it('begins at the start with the deployed version, unless it is asked for another event or the version of its run', async () => {
    const { call, happened, replayed } = await world();
    await happened(...failedAtB, ...changesOf(run(2), start(2), cancel(3)), ...changesOf(run(3), cancel(2)));
    expect((await call('post', '/v1/runs/run_1/replay')).status).toBe(202);
    expect((await call('post', '/v1/runs/run_2/replay').send({ version: 'same', event: null })).status).toBe(202);
    expect((await call('post', '/v1/runs/run_3/replay').send({ version: 'same' })).status).toBe(202);
    expect(replayed.map(({ event, reused, origin }) => [event, reused, origin.startsWith])).toEqual([
      ['{"a":1}', [], undefined],
      ['null', [], 'd_1'],
      ['{"a":1}', [], undefined],
    ]);
  });

  it('is the same for a repeat of its request, also when the first one ended before its answer', async () => {
    const { call, failures, happened, repeatIds } = await world();
    await happened(...failedAtB);
    failures.push(() => Promise.reject(new Error('the process died')));
    const replay = (key: string) => call('post', '/v1/runs/run_1/replay').set('Idempotency-Key', key);
    expect((await replay('k1')).status).toBe(500);
    expect((await replay('k1')).status).toBe(202);
    expect((await replay('k2')).status).toBe(202);
    const [first, repeat, other] = repeatIds;
    expect(first).toMatch(/./);
    expect([repeat === first, other === first]).toEqual([true, false]);
  });

  it('68: is refused with what is wrong', async () => {
    const { call, happened, replayed } = await world();
    await happened(...failedAtB, ...changesOf(run(2), start(2)), ...changesOf(run(3), start(2), cancel(3)));
    const refused = async (id: string, body: object) => {
      const reply = await call('post', `/v1/runs/${id}/replay`).send(body);
      return [reply.status, errorOf(reply).code, errorOf(reply).details];
    };
    const notReached = (namespace: string) => [409, 'step_not_reached', expect.objectContaining({ namespace })];
    expect(await refused('run_1', { from: 'zz' })).toEqual(notReached('zz'));
    expect(await refused('run_3', { from: 'b' })).toEqual(notReached('a'));
    expect(await refused('run_2', {})).toEqual([409, 'run_not_finished', expect.anything()]);
    expect(await refused('run_3', { from: 'failed' })).toEqual([409, 'nothing_failed', expect.anything()]);
    expect(await refused('run_1', { version: 'draft' })).toEqual([404, 'no_draft', expect.anything()]);
    expect(await refused('run_1', { version: 'newest' })).toEqual([400, 'invalid_parameter', expect.anything()]);
    expect(await refused('run_1', { from: 'b', event: 1 })).toEqual([400, 'invalid_parameter', expect.anything()]);
    expect(replayed).toEqual([]);
  });

  it('runs the draft as a test, also of an inactive workflow that was never deployed', async () => {
    const { call, happened, replayed, workflows } = await world();
    const of = (draft: string | null) => ({
      id: 'p_1',
      workspaceId: 'o_1',
      name: 'Orders',
      deploymentId: null,
      ...LIVE,
      active: false,
      draft: draft === null ? null : { id: draft, settings: { timeoutSeconds: null } },
    });
    workflows.set('p_1', of('d_1'));
    await happened(
      ...changesOf(run(1, { test: true, startsWith: 'd_1' }), start(2), cancel(3)),
      ...changesOf(run(2), start(2), cancel(3)),
    );
    const replay = async (n: number, version: string) => {
      const reply = await call('post', `/v1/runs/run_${n}/replay`).send({ version });
      return reply.status === 202 ? (reply.body as { data: { test: boolean } }).data.test : errorOf(reply).code;
    };
    expect(await replay(2, 'draft')).toBe(true);
    expect(replayed.at(-1)?.origin).toMatchObject({ startsWith: 'd_1', test: true });
    for (const n of [1, 2]) expect(await replay(n, 'current')).toBe('not_deployed');
    workflows.set('p_1', of(null));
    expect(await replay(2, 'draft')).toBe('no_draft');
  });

  it('needs an active workflow unless it is a test, and a run of the caller', async () => {
    const { call, happened, workflows } = await world();
    workflows.set('p_2', { id: 'p_2', workspaceId: 'o_1', name: 'Mails', deploymentId: 'd_1', ...LIVE, active: false });
    await happened(
      ...changesOf(run(1, { workflowId: 'p_2' }), start(2), cancel(3)),
      ...changesOf(run(2, { workflowId: 'p_2', test: true }), start(2), cancel(3)),
      ...changesOf(run(3, { workflowId: 'p_other', ownerId: 'o_2' }), start(2), cancel(3)),
      ...changesOf(run(4, { workflowId: 'p_gone' }), start(2), cancel(3)),
    );
    const replay = (n: number) => call('post', `/v1/runs/run_${n}/replay`);
    expect(errorOf(await replay(1)).code).toBe('workflow_inactive');
    expect((await replay(2)).body).toMatchObject({ data: { test: true } });
    for (const n of [3, 4, 5]) expect(errorOf(await replay(n)).code).toBe('run_not_found');
  });
});
