import { describe, expect, it } from '@jest/globals';
import { type EventSummary, type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api, server } = instance;

/** Emits the events in the request, each `[event, metadata]`, with `delivery_ts` this many milliseconds from now. */
const DELAYING = componentCode({
  members: `run({ body }) {
    for (const [event, { in: ms, ...metadata }] of body)
      this.$emit(event, { ...metadata, delivery_ts: Date.now() + ms });
  },`,
});
const FAR = 3_600_000;

const waiting = async (source: Source, query: Record<string, string> = {}): Promise<readonly EventSummary[]> =>
  (await api.summaries(source.id, { event_name: '$in', ...query })).data;
const untilWaiting = (source: Source, count: number): Promise<readonly EventSummary[]> =>
  eventually(`${count} events of ${source.id} that wait`, async () => {
    const data = await waiting(source);
    return data.length === count ? data : undefined;
  });
const cancel = (source: Source, query: Record<string, string>): Promise<unknown> =>
  api.expect(202, 'DELETE', `/v1/sources/${source.id}/events`, { query: { event_name: '$in', ...query } });

describe('an event with delivery_ts', () => {
  // docs/reference/rest-api.md#delayed-events-listing
  it('waits in $in, is listed there, and goes out once on its channel, to webhooks and sources', async () => {
    const source = await instance.deploy(DELAYING);
    const webhook = await instance.listen(source.id, 'later');
    const listener = await instance.deploy(componentCode({ members: `run(event) { this.$emit({ got: event }); },` }));
    await api.subscribe(source.id, listener.id, 'later');
    const before = Date.now();
    await instance.post(source, [[{ n: 1 }, { in: 6_000, name: 'later', id: 'x', summary: 'One' }]]);
    const [listed] = await untilWaiting(source, 1);
    expect(listed?.event).toEqual({ n: 1 });
    expect(listed?.metadata).toMatchObject({ id: 'x', name: 'later', summary: 'One', emitter_id: source.id });
    const dueAt = Number(Reflect.get(listed?.metadata ?? {}, 'delivery_ts'));
    expect(dueAt).toBeGreaterThanOrEqual(before + 6_000);
    expect((await api.summaries(source.id, { event_name: 'later' })).data).toEqual([]);

    const [event] = await instance.history(source, 1, 'later', 30_000);
    expect(Date.now()).toBeGreaterThanOrEqual(dueAt);
    expect(event?.event).toEqual({ n: 1 });
    expect(event?.metadata).toMatchObject({ id: 'x', name: 'later', summary: 'One' });
    expect(event?.metadata.emit_id).toBe(listed?.metadata.emit_id);
    expect(listed?.metadata['invocation_id']).toMatch(/^inv_/);
    expect(event?.metadata['invocation_id']).toBe(listed?.metadata['invocation_id']);
    expect(await waiting(source)).toEqual([]);
    expect(await instance.payloads(listener, 1)).toEqual([{ got: { n: 1 } }]);
    await instance.receiver.until('the delivery', () => instance.arrived(webhook).length >= 1);
    expect(instance.arrived(webhook)).toEqual([{ n: 1 }]);
  });

  it('goes out at once when the time is over, and may be a numeric text or a Date', async () => {
    const source = await instance.deploy(
      componentCode({
        members: `run() {
          this.$emit('past', { delivery_ts: Date.now() - 5 });
          this.$emit('text', { delivery_ts: String(Date.now() + ${FAR}) });
          this.$emit('date', { delivery_ts: new Date(Date.now() + ${FAR}) });
          this.$emit('never', { delivery_ts: 'tomorrow' });
        },`,
      }),
    );
    await instance.post(source, {});
    expect(await instance.payloads(source, 1)).toEqual(['past']);
    expect((await untilWaiting(source, 2)).map(({ event }) => event)).toEqual(['date', 'text']);
    const [error] = await instance.history(source, 1, '$errors');
    expect(error?.event).toMatchObject({
      error: { message: '$emit: delivery_ts must be epoch milliseconds, not tomorrow' },
    });
  });

  // docs/reference/rest-api.md#delayed-events-cancel
  it('never goes out once it is cancelled, and the others do', async () => {
    const source = await instance.deploy(DELAYING);
    await instance.post(
      source,
      [1, 2, 3, 4].map((n) => [n, { in: n > 2 ? 8_000 : FAR, id: n }]),
    );
    const listed = await untilWaiting(source, 4);
    expect(listed.map(({ event }) => event)).toEqual([4, 3, 2, 1]);
    const third = listed[1]?.id ?? '';
    await cancel(source, { start_id: third, end_id: third });
    expect((await waiting(source)).map(({ event }) => event)).toEqual([4, 2, 1]);
    expect((await waiting(source, { limit: '1', after: listed[0]?.id ?? '' })).map(({ event }) => event)).toEqual([2]);
    expect(await instance.payloads(source, 1)).toEqual([4]);
    await cancel(source, {});
    expect(await waiting(source)).toEqual([]);
    expect((await api.summaries(source.id)).data.map(({ event }) => event)).toEqual([4]);
  });

  it('is deduplicated on its channel when it is emitted', async () => {
    const source = await instance.deploy(DELAYING.replace('run(', `dedupe: 'unique', run(`));
    await instance.post(source, [
      ['first', { in: FAR, id: 1, name: 'self' }],
      ['again', { in: FAR, id: 1, name: 'self' }],
      ['default', { in: -1, id: 1 }],
    ]);
    expect(await instance.payloads(source, 1)).toEqual(['default']);
    expect((await untilWaiting(source, 1)).map(({ event }) => event)).toEqual(['first']);
  });

  it('goes out although a kill -9 came in between, once it is due', async () => {
    const source = await instance.deploy(DELAYING);
    await instance.post(source, [
      ['soon', { in: 2_000 }],
      ['far', { in: FAR }],
    ]);
    await untilWaiting(source, 2);
    await server.kill9();
    await server.start();
    expect(await instance.payloads(source, 1)).toEqual(['soon']);
    expect((await untilWaiting(source, 1)).map(({ event }) => event)).toEqual(['far']);
  });

  it('goes out from a source that was made inactive, and is gone with a deleted one', async () => {
    const [paused, deleted] = [await instance.deploy(DELAYING), await instance.deploy(DELAYING)];
    const webhook = await instance.listen(deleted.id);
    await instance.post(deleted, [['gone', { in: 3_000 }]]);
    await instance.post(paused, [['out', { in: 4_000 }]]);
    await untilWaiting(deleted, 1);
    await untilWaiting(paused, 1);
    await api.expect(204, 'DELETE', `/v1/sources/${deleted.id}`);
    await api.expect(200, 'PUT', `/v1/sources/${paused.id}`, { body: { active: false } });
    expect(await instance.payloads(paused, 1)).toEqual(['out']);
    expect(instance.arrived(webhook)).toEqual([]);
  });

  it('makes $emit throw beyond 10,000 of one source, in a process that has just started too', async () => {
    const source = await instance.deploy(
      componentCode({
        members: `
        methods: { late(count) { for (let n = 0; n < count; n++) this.$emit(n, { delivery_ts: Date.now() + ${FAR} }); } },
        hooks: { activate() { this.late(1); } },
        run({ body }) {
          try {
            this.late(body.n);
          } catch (error) {
            this.$emit({ code: error.code, message: error.message });
          }
          this.$emit('kept');
        },`,
      }),
    );
    await instance.post(source, { n: 9_999 });
    const total = async (): Promise<number> =>
      (await api.summaries(source.id, { event_name: '$in', limit: '1' })).page_info.total_count;
    await eventually('10,000 that wait', async () => ((await total()) === 10_000 ? true : undefined), 120_000);
    const refused = {
      code: 'DelayedLimitExceeded',
      message: expect.stringMatching(
        /^\$emit: delivery_ts is refused: 10000 events with \d+ bytes wait in \$in, and at most 10000 events .*Cancel some/,
      ),
    };
    await instance.post(source, { n: 1 });
    expect(await instance.payloads(source, 3)).toEqual(['kept', refused, 'kept']);
    await server.kill9();
    await server.start();
    await instance.post(source, { n: 1 });
    expect(await instance.payloads(source, 5)).toEqual(['kept', refused, 'kept', refused, 'kept']);
    await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { active: false } });
    const hook = await api.expect<{ observations: unknown[] }>(422, 'PUT', `/v1/sources/${source.id}`, {
      body: { active: true },
    });
    expect(hook.observations).toContainEqual(
      expect.objectContaining({ k: 'error', err: expect.objectContaining({ message: refused.message }) }),
    );
    expect(await total()).toBe(10_000);

    await cancel(source, {});
    expect(await total()).toBe(0);
    await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { active: true } });
    await instance.post(source, { n: 2 });
    expect((await instance.payloads(source, 6)).at(-1)).toEqual('kept');
    await untilWaiting(source, 3);
  }, 240_000);
});
