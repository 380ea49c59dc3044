import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { noStreams } from '#libs/event-streams/testing/no-streams.js';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { InMemoryDelayedEvents } from '#libs/stream-log/testing/in-memory-delayed-events.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { DEFAULT_EVENT_SETTINGS, EventsModule, eventSummariesProjection } from './index.js';
import { emit, id, T0, topics } from './testing/emit-record.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A workflow whose records are written to the log by hand, because nothing runs workflows yet. */
const world = async () => {
  const log = new InMemoryStreamLog();
  const readModels = new InMemoryReadModels();
  await log.createTopic(topics.emits('p_a'), {});
  const projection = eventSummariesProjection(DEFAULT_EVENT_SETTINGS);
  const summaries = new StreamProjector({
    projection,
    log,
    readModels,
    gatherMs: 1,
    onFailure: (error) => {
      throw error;
    },
  });
  await summaries.start();
  const known = new Map([
    ['p_a', { workspaceId: 'o_1' }],
    ['p_other', { workspaceId: 'o_2' }],
    ['dc_a', { workspaceId: 'o_1' }],
  ]);
  const app = await httpTestApp({
    imports: [
      EventsModule.forRoot({
        readModels,
        clock: { now: () => T0 + 1_000_000 },
        log,
        topics,
        delayed: new InMemoryDelayedEvents(),
        emitters: {
          find: (emitter: string) => known.get(emitter),
          idOfSlug: () => undefined,
          idOfExternal: (externalId: string, workspaceId: string) =>
            workspaceId === 'o_1' && externalId === 'team/a' ? 'p_a' : undefined,
        },
        appliedEvents: summaries,
        settings: DEFAULT_EVENT_SETTINGS,
        eventStreams: noStreams(log),
        otherStreams: [],
      }),
    ],
  });
  closing.push(
    () => app.close(),
    () => summaries.stop(),
  );
  const get = (path: string) => request(app.getHttpServer()).get(path).set('Authorization', 'Bearer test-key');
  const emitted = async (n: number, payload: unknown, channel = ''): Promise<void> => {
    const record = emit(n, payload, { emitter: 'p_a', channel });
    const [offset] = await log.publish([record]);
    await summaries.waitApplied(record.topic, offset ?? 0, 5_000);
  };
  return { get, emitted };
};

// docs/reference/rest-api.md#workflow-events
describe('events of a workflow', () => {
  // docs/reference/rest-api.md#workflow-events
  it('show what was emitted within raw_event, newest first, in pages', async () => {
    const { get, emitted } = await world();
    await emitted(1, { n: 1 });
    await emitted(2, [2]);
    const reply = await get('/v1/workflows/p_a/event_summaries?limit=1');
    expect(reply.body).toEqual({
      page_info: { total_count: 2, count: 1, start_cursor: id(2), end_cursor: id(2) },
      data: [
        {
          id: id(2),
          indexed_at_ms: T0 + 2,
          event: { raw_event: [2] },
          metadata: { emit_id: 'emit-2', name: '', emitter_id: 'p_a' },
        },
      ],
    });
    const next = itemsOf(await get(`/v1/workflows/p_a/event_summaries?after=${id(2)}`));
    expect(next.map((item) => item['event'])).toEqual([{ raw_event: { n: 1 } }]);
  });

  // docs/reference/rest-api.md#workflow-events
  it('hold the errors as they are, in their own list', async () => {
    const { get, emitted } = await world();
    const error = { original_event: {}, original_context: { id: 'x' }, error: { code: 'E', cellId: 'c_1' } };
    await emitted(1, error, '$errors');
    for (const path of ['$errors', '%24errors']) {
      const items = itemsOf(await get(`/v1/workflows/p_a/${path}/event_summaries`));
      expect(items.map((item) => item['event'])).toEqual([error]);
    }
    expect(itemsOf(await get('/v1/workflows/p_a/event_summaries'))).toEqual([]);
  });

  // docs/reference/workflows.md#external-id
  it('are found by the external id of the workflow', async () => {
    const { get, emitted } = await world();
    await emitted(1, { n: 1 });
    await emitted(2, { n: 2 }, '$errors');
    for (const [list, n] of [
      ['event_summaries', 1],
      ['$errors/event_summaries', 2],
    ] as const) {
      const items = itemsOf(await get(`/v1/workflows/ext:team%2Fa/${list}`));
      expect(items).toMatchObject([{ id: id(n), metadata: { emitter_id: 'p_a' } }]);
    }
  });

  it('are shortened without breaking JSON, and whole on request', async () => {
    const { get, emitted } = await world();
    await emitted(1, { text: 'é'.repeat(5_000) });
    const [short] = itemsOf(await get('/v1/workflows/p_a/event_summaries'));
    expect(short).toMatchObject({ truncated: true, event: { raw_event: { text: expect.stringMatching(/^é+…$/) } } });
    const [whole] = itemsOf(await get('/v1/workflows/p_a/event_summaries?expand=event'));
    expect(whole).toMatchObject({ event: { raw_event: { text: 'é'.repeat(5_000) } } });
  });

  // docs/reference/rest-api.md#workflow-events
  it.each(['p_none', 'p_other', 'dc_a', 'p_', '..', 'ext:none', 'ext:'])(
    'of %s are 404, in the shape of every error',
    async (workflow) => {
      const { get } = await world();
      for (const list of ['event_summaries', '$errors/event_summaries']) {
        const reply = errorOf(await get(`/v1/workflows/${encodeURIComponent(workflow)}/${list}`));
        expect(reply).toMatchObject({ status: 404, code: 'workflow_not_found' });
      }
    },
  );
});
