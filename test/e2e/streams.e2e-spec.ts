import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Source } from '#test/harness/api-client.js';
import { componentCode, emitterCode, relayCode } from '#test/harness/component-code.js';
import { type EventSource, type EventSourceOptions, useStreams } from '#test/harness/event-source.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance({ env: { SLUICE_STREAMS_PER_USER: '6' } });
const { api } = instance;

const open = useStreams(instance);
const streamOf = (source: Source, query = '', options: EventSourceOptions = {}): Promise<EventSource> =>
  open(`/v1/sources/${source.id}/sse${query}`, options);
const errorOf = async (stream: EventSource): Promise<ErrorBody> => {
  await stream.untilEnded();
  return JSON.parse(stream.text) as ErrorBody;
};

// docs/reference/rest-api.md#streams
describe('the stream of a source', () => {
  // docs/reference/rest-api.md#streams #stream-keep-alive
  it('sends each event as it happens: the value alone, with its id, without a name', async () => {
    const source = await instance.deploy(relayCode());
    await instance.post(source, { n: 0 });
    await instance.history(source, 1);
    const stream = await streamOf(source);
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    for (const body of [{ n: 1 }, [2], 'é\n🚰', null])
      await instance.post(source, body, { 'content-type': 'application/json' });
    await stream.until(2);
    expect(stream.values.slice(0, 2)).toEqual([{ n: 1 }, [2]]);
    const kept = await instance.history(source, 3);
    expect(stream.events[0]).toEqual({ id: kept[1]?.id, data: '{"n":1}' });
    expect(stream.comments[0]).toBe('sse-handshake');
  });

  // docs/reference/rest-api.md#streams
  it('shows the one channel that is asked for', async () => {
    const source = await instance.deploy(emitterCode());
    const [plain, named] = [await streamOf(source), await streamOf(source, '?event_name=other')];
    await instance.post(source, [[1], [2, { name: 'other' }], [3]]);
    expect(await plain.until(2)).toEqual([1, 3]);
    expect(await named.until(1)).toEqual([2]);
    expect(named.events[0]).not.toHaveProperty('event');
  });

  it('shows log lines and errors', async () => {
    const code = componentCode({ members: `run() { console.log('hello'); throw new Error('asked to fail'); },` });
    const source = await instance.deploy(code);
    const [logs, errors, alias] = [
      await streamOf(source, '?stream=logs'),
      await streamOf(source, '?event_name=$errors'),
      await open(`/sse/dc/${source.id}/observations`),
    ];
    await instance.post(source, {});
    await errors.until(1);
    expect(errors.values[0]).toMatchObject({ error: { message: 'asked to fail' } });
    for (const stream of [logs, alias]) {
      await stream.until(1);
      expect(stream.values).toContainEqual(expect.objectContaining({ k: 'console.log', msg: 'hello' }));
    }
  });

  it('gives event summaries with envelope=1, whole', async () => {
    const source = await instance.deploy(emitterCode());
    const stream = await streamOf(source, '?envelope=1');
    await instance.post(source, [[{ text: 'x'.repeat(5_000) }, { id: 7, summary: 'Seven' }]]);
    await stream.until(1);
    const [kept] = await instance.history(source, 1);
    expect(stream.values[0]).toEqual(kept);
  });

  // docs/reference/rest-api.md#stream-addresses
  it.each([
    ['/sources/{id}/sse', 'envelope'],
    ['/sources/{id}/sse/', 'envelope'],
    ['/sources/{id}/sse?stream=true', 'envelope'],
    ['/sources/{id}/sse?stream=false&stream=1&_=1700000000000', 'envelope'],
    ['/sources/{id}/sse?envelope=full&stream=', 'envelope'],
    ['/sources/{id}/sse&stream=live', 'envelope'],
    ['/sse/dc/{id}/emits', 'envelope'],
    ['/v1/sse/dc/{id}/emits?stream=emits', 'envelope'],
    ['/sources/{id}/sse?envelope=0', 'plain'],
    ['/sse/dc/{id}/emits?envelope=false&stream=x', 'plain'],
    ['/v1/sources/{id}/sse', 'plain'],
    ['/v1/sources/{id}/sse/', 'plain'],
    ['/v1/sources/{id}/sse?envelope=0', 'plain'],
  ])('is served at %s: %s', async (path, form) => {
    const source = await instance.deploy(relayCode());
    const stream = await open(path.replace('{id}', source.id));
    expect(stream.status).toBe(200);
    const event = { n: 1, text: 'x'.repeat(3_000) };
    await instance.post(source, event);
    await stream.until(1);
    const [kept] = await instance.history(source, 1);
    expect(stream.values).toEqual([form === 'envelope' ? kept : event]);
    expect(stream.events[0]?.id).toBe(kept?.id);
  });

  // docs/reference/rest-api.md#stream-addresses
  it('carries the envelope at addresses of the hosted service when it resumes, and on other channels', async () => {
    const source = await instance.deploy(emitterCode());
    await instance.post(source, [[1], [2], [3, { name: 'other' }]]);
    const [first, second] = await instance.history(source, 2);
    const [other] = await instance.history(source, 1, 'other');
    const resumed = await open(`/sources/${source.id}/sse?last_event_id=${first?.id}`);
    expect(await resumed.until(1)).toEqual([second]);
    const named = await open(`/sources/${source.id}/sse?event_name=other&last_event_id=0-0&stream=any`);
    expect(await named.until(1)).toEqual([other]);
    const logs = await open(`/sse/dc/${source.id}/observations?stream=any&envelope=1`);
    expect(logs.status).toBe(200);
  });

  // docs/reference/rest-api.md#stream-resume
  it('goes on after the last event that the reader has, without a gap or a repeat, while events come', async () => {
    const source = await instance.deploy(emitterCode());
    const first = await streamOf(source);
    await instance.post(source, [[1], [2], [3]]);
    await first.until(3);
    first.close();
    const { id } = first.events[0]!;
    let posting = true;
    const posts = (async () => {
      for (let n = 4; posting; n++) await instance.post(source, [[n]]);
    })();
    const again = await streamOf(source, '', { headers: { 'last-event-id': id! } });
    const other = await streamOf(source, `?last_event_id=${id}`);
    await Promise.all([again.until(30), other.until(30)]);
    posting = false;
    await posts;
    for (const stream of [again, other]) {
      const values = stream.values.map(Number);
      expect(values.slice(0, 2)).toEqual([2, 3]);
      expect(values).toEqual(values.map((_, i) => i + 2));
    }
  }, 60_000);

  // docs/reference/rest-api.md#stream-resume
  it('resumes after a restart of the server, also from an id that is no longer kept', async () => {
    const source = await instance.deploy(emitterCode());
    const first = await streamOf(source);
    await instance.post(source, [[1], [2], [3]]);
    await first.until(3);
    const ids = first.events.map((event) => event.id ?? '');
    await instance.server.restart();
    await first.untilEnded();
    await api.expect(202, 'DELETE', `/v1/sources/${source.id}/events`, {
      query: { start_id: ids[0]!, end_id: ids[0]! },
    });
    const again = await streamOf(source, `?last_event_id=${ids[0]}`);
    await instance.post(source, [[4]]);
    expect(await again.until(3)).toEqual([2, 3, 4]);
  }, 120_000);

  // docs/reference/rest-api.md#access-token-in-query
  it('takes the key from the address, and leaves it in no log and no metric', async () => {
    const source = await instance.deploy(relayCode());
    const { apiKey } = instance.server;
    const stream = await streamOf(source, `?access_token=${apiKey}`, { key: null });
    await instance.post(source, { n: 1 });
    expect(await stream.until(1)).toEqual([{ n: 1 }]);
    const wrong = await streamOf(source, `?access_token=${apiKey}x`, { key: null });
    expect(wrong.status).toBe(401);
    expect(JSON.stringify(await errorOf(wrong))).not.toContain(apiKey);
    stream.close();
    await api.call('GET', '/v1/users/me');
    expect(instance.server.lastOutput).not.toContain(apiKey);
    const elsewhere = await api.call('GET', `/v1/sources/${source.id}?access_token=${apiKey}`, { key: null });
    expect(elsewhere.status).toBe(401);
  });

  // docs/reference/rest-api.md#stream-end
  it('ends at once when its key is revoked or its source deleted', async () => {
    const { data } = await api.expect<Data<{ id: string; key: string }>>(200, 'POST', '/v1/api_keys', {
      body: { name: 'Reader' },
    });
    const source = await instance.deploy(relayCode());
    const [own, other] = [await streamOf(source, '', { key: data.key }), await streamOf(source)];
    await api.expect(204, 'DELETE', `/v1/api_keys/${data.id}`);
    await own.untilEnded();
    expect(other.ended).toBe(false);
    await api.deleteSource(source.id);
    await other.untilEnded();
  });

  // docs/reference/rest-api.md#stream-limits
  it('is refused beyond the limit of a user, which names the setting, and again possible after one has ended', async () => {
    const source = await instance.deploy(relayCode());
    const streams: EventSource[] = [];
    for (let i = 0; i < 6; i++) streams.push(await streamOf(source));
    const refused = await streamOf(source);
    expect(refused.status).toBe(429);
    expect(await errorOf(refused)).toMatchObject({
      code: 'too_many_streams',
      details: { limit: 6, actual: 6, setting: 'SLUICE_STREAMS_PER_USER' },
    });
    streams[0]?.close();
    await eventually('room for one', async () => ((await streamOf(source)).status === 200 ? true : undefined));
  });

  it.each([
    ['/v1/sources/dc_none/sse', 404, 'source_not_found'],
    ['/v1/workflows/p_none/sse', 404, 'workflow_not_found'],
    ['/pipelines/p_none/sse', 404, 'workflow_not_found'],
    ['/workflows/p_none/sse?stream=x', 404, 'workflow_not_found'],
    ['/sources/dc_none/sse?stream=x', 404, 'source_not_found'],
    ['/sources/{id}/sse?last_event_id=x', 400, 'invalid_parameter'],
    ['/v1/sources/{id}/sse?stream=bad', 400, 'invalid_parameter'],
    ['/v1/sources/{id}/sse?stream=logs&event_name=x', 400, 'invalid_parameter'],
    ['/v1/sources/{id}/sse?last_event_id=x', 400, 'invalid_parameter'],
    ['/v1/sources/{id}/sse?envelope=maybe', 400, 'invalid_parameter'],
    ['/v1/sources/{id}/sse?event_name=a&event_name=b', 400, 'invalid_parameter'],
  ])('answers %s with %i', async (path, status, code) => {
    const source = await instance.deploy(relayCode());
    const stream = await open(path.replace('{id}', source.id));
    expect(stream.status).toBe(status);
    expect(await errorOf(stream)).toMatchObject({ code });
  });

  it('answers HEAD with its headers and no stream', async () => {
    const source = await instance.deploy(relayCode());
    const reply = await api.call('HEAD', `/v1/sources/${source.id}/sse`);
    expect(reply).toMatchObject({ status: 200, text: '', headers: { 'content-type': 'text/event-stream' } });
  });
});
