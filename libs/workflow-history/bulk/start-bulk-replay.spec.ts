import { describe, expect, it } from '@jest/globals';
import { errorOf } from '#libs/http/testing/replies.js';
import { changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { cancel, fail, start, succeed } from '#libs/workflow-runs/testing/run-samples.js';
import { run, useWorld } from '../testing/history-world.js';

const world = useWorld();
const REPLAY = '/v1/workflows/p_1/runs/replay';

// docs/reference/workflows.md#bulk-replay
describe('a request for a bulk replay', () => {
  const runs = [
    ...changesOf(run(1), start(2), succeed(3, 1), fail(4, 2, 'E_X')),
    ...changesOf(run(2), start(2), fail(3, 1, 'E_Y')),
    ...changesOf(run(3), start(2), succeed(3, 1), succeed(4, 2)),
    ...changesOf(run(4), start(2)),
    ...changesOf(run(5), cancel(2)),
    ...changesOf(run(6, { workflowId: 'p_2' }), start(2), fail(3, 1, 'E_X')),
  ];

  const started = async (body: object) => {
    const opened = await world();
    await opened.happened(...runs);
    const reply = await opened.call('post', REPLAY).send(body);
    const [known] = opened.bulkReplays.running();
    const text = known && (await opened.blobs.get(known.replay.runsHash));
    const listed = text === undefined ? [] : (JSON.parse(text) as { runs: string[] }).runs;
    return { ...opened, reply, known, listed };
  };

  it.each([
    [{ filter: { state: 'failed' } }, ['run_1', 'run_2']],
    [{ filter: { since: '2023-01-01' } }, ['run_1', 'run_2', 'run_3', 'run_5']],
    [{ filter: { since: '2023-01-01' }, from: 'failed' }, ['run_1', 'run_2']],
    [{ filter: { since: '2023-01-01' }, from: 'b' }, ['run_1', 'run_3']],
    [{ run_ids: ['run_5', 'run_3', 'run_4', 'run_6', 'run_1'] }, ['run_1', 'run_3', 'run_5']],
  ])('69: names the runs to which it applies, oldest first: %j', async (body, expected) => {
    const { reply, known, listed } = await started(body);
    expect([reply.status, reply.body]).toEqual([202, { data: { id: known?.id, matched: expected.length, rate: 10 } }]);
    expect(listed).toEqual(expected);
  });

  it('keeps what it was asked for, and shows it', async () => {
    const body = { run_ids: ['run_1', 'run_2'], from: 'a', version: 'same', rate: 3 };
    const { call, known } = await started(body);
    const shown = await call('get', `${REPLAY}/${known?.id}`);
    expect(shown.body).toEqual({
      data: {
        id: expect.stringMatching(/^rpl_[0-9a-z]{18}$/),
        workflow_id: 'p_1',
        state: 'running',
        from: 'a',
        version: 'same',
        rate: 3,
        matched: 2,
        started: 0,
        passed_over: 0,
        waiting: 2,
        started_at_ms: expect.any(Number),
        ended_at_ms: null,
      },
    });
  });

  it('is cancelled once, with what it stored', async () => {
    const { blobs, call, known } = await started({ run_ids: ['run_1'] });
    for (let n = 0; n < 2; n++) expect((await call('delete', `${REPLAY}/${known?.id}`)).status).toBe(204);
    const { state, waiting } = ((await call('get', `${REPLAY}/${known?.id}`)).body as { data: Record<string, unknown> })
      .data;
    expect([state, waiting]).toEqual(['cancelled', 0]);
    expect(await blobs.get(known?.replay.runsHash ?? '')).toBeUndefined();
  });

  it.each([
    [{ filter: { state: 'failed', q: 'nowhere' } }, 404, 'nothing_to_replay'],
    [{ run_ids: ['run_4', 'run_none'] }, 404, 'nothing_to_replay'],
    [{ run_ids: ['run_3'], from: 'failed' }, 404, 'nothing_to_replay'],
    [{ run_ids: ['run_1'], from: 'zz' }, 404, 'nothing_to_replay'],
    [{ filter: {} }, 400, 'invalid_parameter'],
    [{}, 400, 'missing_parameter'],
    [{ run_ids: ['run_1'], rate: 0 }, 400, 'invalid_parameter'],
    [{ run_ids: ['run_1'], rate: 101 }, 400, 'invalid_parameter'],
    [{ run_ids: ['run_1'], version: 'newest' }, 400, 'invalid_parameter'],
  ])('69: is refused with what is wrong: %j', async (body, status, code) => {
    const { reply, known } = await started(body);
    expect([reply.status, errorOf(reply).code, known]).toEqual([status, code, undefined]);
  });

  it('is one for all repeats of the request', async () => {
    const { bulkReplays, call, happened } = await world();
    await happened(...runs);
    const post = (key: string) =>
      call('post', REPLAY)
        .set('Idempotency-Key', key)
        .send({ run_ids: ['run_1'] });
    const [first, again, other] = [await post('k1'), await post('k1'), await post('k2')];
    expect(again.body).toEqual(first.body);
    expect(other.body).not.toEqual(first.body);
    expect(bulkReplays.running()).toHaveLength(2);
  });

  it('finds no more than five that run in the workspace', async () => {
    const { call, happened } = await world();
    await happened(...runs);
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await call('post', REPLAY).send({ run_ids: ['run_1'] })).status);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 409]);
  });

  it('needs an active workflow, and is not found under another', async () => {
    const { call, known, workflows } = await started({ run_ids: ['run_1'] });
    for (const id of [known?.id, 'rpl_none']) {
      const reply = await call('get', `/v1/workflows/p_2/runs/replay/${id}`);
      expect([reply.status, errorOf(reply).code]).toEqual([404, 'bulk_replay_not_found']);
    }
    const workflow = workflows.get('p_1');
    if (workflow) workflows.set('p_1', { ...workflow, active: false });
    const reply = await call('post', REPLAY).send({ run_ids: ['run_1'] });
    expect([reply.status, errorOf(reply).code]).toEqual([409, 'workflow_inactive']);
  });
});
