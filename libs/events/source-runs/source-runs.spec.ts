import { describe, expect, it } from '@jest/globals';
import { errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { runsRecord, type SourceRun } from '#libs/stream-log/source-runs.js';
import { type RunsUnderWay, sourceCounts } from '../index.js';
import { emit, T0, topics } from '../testing/emit-record.js';
import { eventsWorld } from '../testing/events-world.js';

const emitter = { topic: topics.emits('dc_a'), sourceId: 'dc_a', workspaceId: 'o_1' };
const idOf = (n: number): string => `inv_${String(n).padStart(18, '0')}`;
const run = (n: number, over: Partial<SourceRun> = {}): SourceRun => ({
  id: idOf(n),
  kind: 'http',
  status: 'ok',
  queuedAt: T0 + n,
  startedAt: T0 + n + 1,
  ms: 5,
  emits: 0,
  delayed: 0,
  logs: 0,
  httpStatus: null,
  attempts: 1,
  firstEvent: '',
  error: null,
  ...over,
});
const ended = (...runs: SourceRun[]): LogRecord => runsRecord(emitter, runs);
const invoked = (n: number, kind = 'http'): LogRecord => ({
  topic: topics.invocations('dc_a'),
  key: 'dc_a',
  headers: { id: idOf(n), kind, source: 'dc_a' },
  value: '{}',
});
const RUNS = '/v1/sources/dc_a/runs';

const world = async (retained = 100, underWay?: RunsUnderWay) => {
  const t = await eventsWorld(retained, {}, underWay);
  const idsOf = async (query = ''): Promise<readonly unknown[]> =>
    itemsOf(await t.call('get', `${RUNS}${query}`)).map(({ id }) =>
      typeof id === 'string' ? Number(id.slice(4)) : id,
    );
  return { ...t, idsOf };
};

describe('GET /v1/sources/{id}/runs', () => {
  it('lists the runs that ended, the last queued first, with their fields', async () => {
    const { call, emitted } = await world();
    const error = { name: 'TypeError', message: 'no' };
    await emitted(ended(run(2, { status: 'threw', error, httpStatus: 500 }), run(1, { emits: 2, logs: 1 })));
    const reply = await call('get', RUNS);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      page_info: { total_count: 2, count: 2, start_cursor: expect.any(String), end_cursor: expect.any(String) },
      data: [
        {
          id: idOf(2),
          kind: 'http',
          status: 'threw',
          queued_at_ms: T0 + 2,
          started_at_ms: T0 + 3,
          ms: 5,
          emits: 0,
          logs: 0,
          error,
          http_status: 500,
          attempts: 1,
        },
        expect.objectContaining({ id: idOf(1), emits: 2, logs: 1, error: null, http_status: null }),
      ],
    });
  });

  it('has each run once, however often its record comes', async () => {
    const { idsOf, emitted } = await world();
    await emitted(ended(run(1)), ended(run(1)), ended(run(2)));
    expect(await idsOf()).toEqual([2, 1]);
  });

  it('pages by cursors in both directions', async () => {
    const { call, emitted, idsOf } = await world();
    await emitted(ended(run(1), run(2), run(3)));
    const first = await call('get', `${RUNS}?limit=2`);
    const { end_cursor: cursor } = (first.body as { page_info: { end_cursor: string } }).page_info;
    expect(await idsOf(`?limit=2&after=${cursor}`)).toEqual([1]);
    expect(await idsOf(`?limit=1&before=${cursor}`)).toEqual([3]);
    expect(errorOf(await call('get', `${RUNS}?after=nothing!`))).toMatchObject({ status: 400, code: 'invalid_cursor' });
  });

  it('selects by status, kind and time', async () => {
    const { call, emitted, idsOf } = await world();
    await emitted(ended(run(1), run(2, { status: 'killed' }), run(3, { kind: 'timer', status: 'threw' })));
    expect(await idsOf('?status=killed')).toEqual([2]);
    expect(await idsOf('?status=killed,threw')).toEqual([3, 2]);
    expect(await idsOf('?kind=timer')).toEqual([3]);
    expect(await idsOf(`?since=${T0 + 2}&until=${T0 + 2}`)).toEqual([2]);
    for (const [field, word] of [
      ['status', 'failed'],
      ['kind', 'http,webhook'],
    ]) {
      const refused = await call('get', `${RUNS}?${field}=${word}`);
      expect(errorOf(refused)).toMatchObject({ status: 400, code: 'invalid_parameter' });
    }
  });

  // docs/reference/rest-api.md#source-runs-kept
  it('keeps as many as events of a channel', async () => {
    const { idsOf, emitted } = await world(3);
    await emitted(ended(...[1, 2, 3, 4, 5].map((n) => run(n))));
    expect(await idsOf()).toEqual([5, 4, 3]);
  });

  it('adds those that wait in the log, which no runner has finished', async () => {
    const { call, log, emitted, idsOf } = await world();
    await log.createTopic(topics.invocations('dc_a'));
    const now = Date.now();
    await log.publish([invoked(7), invoked(8, 'settled'), invoked(9, 'manual'), invoked(1)]);
    await emitted(ended(run(1)));
    const [newest, ...others] = itemsOf(await call('get', RUNS));
    expect(newest).toMatchObject({ id: idOf(9), kind: 'manual', status: 'queued', started_at_ms: null, ms: null });
    expect(newest?.['queued_at_ms']).toBeGreaterThanOrEqual(now);
    expect(others.map(({ id }) => id)).toEqual([idOf(7), idOf(1)]);
    expect(await idsOf('?status=queued')).toEqual([9, 7]);
    expect((await call('get', `${RUNS}/${idOf(9)}`)).body).toMatchObject({ data: { status: 'queued', emits: [] } });
  });

  it('has those of the runner of this process as it knows them', async () => {
    const runs = [
      { id: idOf(1), kind: 'http', queuedAt: T0, startedAt: T0 + 1 },
      { id: idOf(2), kind: 'http', queuedAt: T0 + 2, startedAt: null },
      { id: idOf(3), kind: 'settled', queuedAt: T0 + 2, startedAt: null },
    ];
    const { call, log } = await world(100, { unfinished: async () => ({ runs, through: 2 }) });
    await log.createTopic(topics.invocations('dc_a'));
    await log.publish([invoked(0), invoked(1), invoked(2), invoked(4)]);
    const listed = itemsOf(await call('get', RUNS)).map(({ id, status }) => [id, status]);
    expect(listed).toEqual([
      [idOf(4), 'queued'],
      [idOf(2), 'queued'],
      [idOf(1), 'running'],
    ]);
    expect((await call('get', `${RUNS}/${idOf(1)}`)).body).toMatchObject({
      data: { status: 'running', started_at_ms: T0 + 1, attempts: 1 },
    });
  });

  it('does not take one that ended and is no longer kept for one that waits', async () => {
    const { log, emitted, idsOf } = await world(2);
    await log.createTopic(topics.invocations('dc_a'));
    await log.publish([invoked(1)]);
    const later = Date.now() + 10_000;
    await emitted(ended(run(2, { queuedAt: later }), run(3, { queuedAt: later + 1 })));
    expect(await idsOf()).toEqual([3, 2]);
  });
});

describe('GET /v1/sources/{id}/runs/{run}', () => {
  const at = (sequence: number): string => `${T0 + 50}-${sequence}`;
  const left = (sequence: number, channel: string, value: unknown): LogRecord =>
    emit(50, value, { channel, headers: { id: at(sequence) } });

  // docs/reference/rest-api.md#source-run-left
  it('has what the run left, and not what its neighbours did', async () => {
    const { call, emitted } = await world();
    const theirs = [left(0, '', 'before'), left(5, '', 'after')];
    const own = [left(1, '', 'a'), left(2, 'b', 'b'), left(3, '$logs', { msg: 'x' }), left(4, '$errors', {})];
    const error = { name: 'Error', message: 'no' };
    await emitted(...theirs, ...own, ended(run(1, { emits: 2, logs: 1, firstEvent: at(1), error })));
    const { data } = (await call('get', `${RUNS}/${idOf(1)}`)).body as { data: Record<string, unknown> };
    expect(data).toMatchObject({ id: idOf(1), emits_kept: true, error });
    expect(data['emits']).toMatchObject([
      { id: at(1), event: 'a', metadata: { name: '' } },
      { id: at(2), event: 'b', metadata: { name: 'b' } },
    ]);
    expect(data['logs']).toMatchObject([{ id: at(3), event: { msg: 'x' } }]);
  });

  it('says when some of it is gone, and takes events that wait for their time as kept', async () => {
    const { call, emitted } = await world();
    await emitted(left(1, '', 'a'));
    await emitted(ended(run(1, { emits: 2, firstEvent: at(1) }), run(2, { emits: 1, delayed: 1, firstEvent: at(9) })));
    expect((await call('get', `${RUNS}/${idOf(1)}`)).body).toMatchObject({ data: { emits_kept: false } });
    expect((await call('get', `${RUNS}/${idOf(2)}`)).body).toMatchObject({ data: { emits_kept: true } });
  });

  it.each([idOf(1), 'dc_a', 'nothing'])('is 404 for %s, which is no run of the source', async (id) => {
    const { call } = await world();
    expect(errorOf(await call('get', `${RUNS}/${id}`))).toMatchObject({ status: 404, code: 'run_not_found' });
  });

  it('is 404 in another source, and for a source of others', async () => {
    const { call, emitted } = await world();
    await emitted(ended(run(1)));
    expect((await call('get', `/v1/sources/dc_b/runs/${idOf(1)}`)).status).toBe(404);
    expect(errorOf(await call('get', `/v1/sources/dc_other/runs`))).toMatchObject({ code: 'source_not_found' });
    expect((await call('get', `/v1/sources/slug-a/runs/${idOf(1)}`)).status).toBe(200);
  });

  it('brings the counts of its source, of which the newest are read', async () => {
    const { readModels, emitted, summaries } = await world();
    const counted = (counts: string): LogRecord => runsRecord({ ...emitter, counts }, [run(1)]);
    const hour = Math.floor(T0 / 3_600_000);
    await emitted(counted(`[5,0,${hour},1,0]`), counted(`[${T0},7,${hour},4,1]`));
    const read = () => sourceCounts(readModels)(['dc_b', 'dc_a'], T0);
    const nothing = { lastEventAt: null, lastErrorAt: null, events: 0, errors: 0 };
    expect(await read()).toEqual([nothing, { lastEventAt: T0, lastErrorAt: 7, events: 4, errors: 1 }]);
    await summaries.forget('dc_a', [topics.emits('dc_a')]);
    expect(await read()).toEqual([nothing, nothing]);
  });

  it('goes with the source', async () => {
    const { summaries, emitted, idsOf } = await world();
    await emitted(ended(run(1)), emit(1, 1));
    await summaries.forget('dc_a', [topics.emits('dc_a')]);
    expect(await idsOf()).toEqual([]);
  });
});
