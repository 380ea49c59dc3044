import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { componentCode, emitterCode, relayCode } from '#test/harness/component-code.js';
import { type EventSource, type EventSourceOptions, useStreams } from '#test/harness/event-source.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api } = instance;
const open = useStreams(instance);

let workspace = '';
beforeAll(async () => {
  const { body } = await api.call<Data<{ orgs: { id: string }[] }>>('GET', '/v1/users/me');
  workspace = body.data.orgs[0]?.id ?? '';
});

const streamOf = (query: string, options: EventSourceOptions = {}): Promise<EventSource> =>
  open(`/v1/workspaces/${workspace}/sse${query}`, options);
/** Until the stream has an event like this. */
const until = (stream: EventSource, event: string, like: object): Promise<unknown> =>
  eventually(`${event} like ${JSON.stringify(like)}`, () => {
    const found = stream.events.find((each) => {
      if (each.event !== event) return false;
      const data = JSON.parse(each.data) as Record<string, unknown>;
      return Object.entries(like).every(([key, value]) => JSON.stringify(data[key]) === JSON.stringify(value));
    });
    return found && (JSON.parse(found.data) as unknown);
  });

// docs/reference/rest-api.md#stream-workspace
describe('the stream of a workspace', () => {
  it('has events, log lines, errors, deliveries and changes as they happen', async () => {
    const stream = await streamOf('?streams=events,logs,errors,invocations,deliveries,changes');
    expect(stream.status).toBe(200);
    const code = `async run({ body }) { console.log('hi'); this.$emit(body.n); if (body.n > 1) throw new Error('two'); },`;
    const source = await instance.deploy(componentCode({ members: code, props: `http: '$.interface.http'` }));
    const webhook = await instance.listen(source.id);
    await instance.post(source, { n: 1 });
    const [kept] = await instance.history(source, 1);
    expect(await until(stream, 'events', { event: 1 })).toEqual(kept);
    expect(await until(stream, 'logs', {})).toMatchObject({
      event: { msg: 'hi' },
      metadata: { emitter_id: source.id },
    });
    await instance.post(source, { n: 2 });
    expect(await until(stream, 'errors', {})).toMatchObject({ event: { error: { message: 'two' } } });
    const run = { source_id: source.id, kind: 'http', status: 'threw', ms: expect.any(Number), emits: 1 };
    expect(await until(stream, 'invocations', { status: 'threw' })).toEqual({
      ...run,
      invocation_id: expect.stringMatching(/^inv_/),
    });
    const attempt = (await until(stream, 'deliveries', { webhook_id: webhook })) as { readonly id: string };
    // The list may be behind the stream.
    const listed = await eventually('the list has the attempt', async () => {
      const { body } = await api.call<{ data: { id: string }[] }>('GET', `/v1/webhooks/${webhook}/deliveries`);
      return body.data.find(({ id }) => id === attempt.id);
    });
    expect({ ...listed, webhook_id: webhook }).toEqual(attempt);
    await until(stream, 'changes', { kind: 'source', resource_id: source.id, type: 'SourceDeployed' });
    await until(stream, 'changes', { kind: 'webhook', resource_id: webhook, type: 'WebhookCreated', revision: 0 });
  });

  it('shows one source or webhook, and one channel', async () => {
    const [one, other] = [await instance.deploy(emitterCode()), await instance.deploy(relayCode())];
    const [ofOne, named] = [await streamOf(`?emitter_id=${one.id}&event_name=*`), await streamOf('?event_name=named')];
    await instance.post(other, { n: 0 });
    await instance.post(one, [[1], [2, { name: 'named' }]]);
    await Promise.all([ofOne.until(2), named.until(1)]);
    expect(ofOne.values).toMatchObject([{ event: 1 }, { event: 2, metadata: { name: 'named' } }]);
    expect(named.values).toMatchObject([{ event: 2 }]);
  });

  // docs/reference/rest-api.md#stream-workspace-resume
  it('resumes with what came while the reader was away', async () => {
    const source = await instance.deploy(emitterCode());
    const path = `?emitter_id=${source.id}&streams=events,changes`;
    const first = await streamOf(path);
    await instance.post(source, [[1]]);
    await until(first, 'events', { event: 1 });
    first.close();
    await instance.post(source, [[2], [3]]);
    await instance.history(source, 3);
    const resumed = await streamOf(path, { headers: { 'last-event-id': first.lastId } });
    await until(resumed, 'events', { event: 3 });
    const events = resumed.events.filter(({ event }) => event === 'events');
    expect(events.map(({ data }) => (JSON.parse(data) as { event: number }).event)).toEqual([1, 2, 3]);
    await until(resumed, 'changes', { resource_id: source.id, type: 'SourceDeployed' });
    const lost = await streamOf(`${path}&last_event_id=unknown`);
    expect(await until(lost, 'gap', {})).toEqual({ since: expect.any(Number) });
  });

  it('tells at once where a reader is', async () => {
    const stream = await streamOf('');
    const [first, second] = await eventually('two comments', () =>
      stream.comments.length > 1 ? stream.comments : undefined,
    );
    expect(first).toBe('keep-alive');
    expect(Math.abs(Number.parseInt(second ?? '', 10) - Date.now())).toBeLessThan(60_000);
  });

  it('ends when its source is deleted', async () => {
    const source = await instance.deploy(relayCode());
    const stream = await streamOf(`?emitter_id=${source.id}`);
    await api.call('DELETE', `/v1/sources/${source.id}`);
    await stream.untilEnded();
    expect((await streamOf(`?emitter_id=${source.id}`)).status).toBe(404);
  });

  it.each([
    ['?streams=events,evnts', 400, 'invalid_parameter', /names of events, logs, errors.*evnts/],
    ['?expand=all', 400, 'invalid_parameter', /expand must be event/],
    ['?emitter_id=dc_none', 404, 'source_not_found', /dc_none/],
    ['?emitter_id=p_none', 404, 'workflow_not_found', /p_none/],
    ['?webhook_id=wh_none', 404, 'webhook_not_found', /wh_none/],
  ])('refuses %s: %i', async (query, status, code, text) => {
    const stream = await streamOf(query);
    await stream.untilEnded();
    const body = JSON.parse(stream.text) as ErrorBody;
    expect([stream.status, body.code]).toEqual([status, code]);
    expect(body.error).toMatch(text);
  });
});
