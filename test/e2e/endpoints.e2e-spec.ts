import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP, echoCode, relayCode } from '#test/harness/component-code.js';
import { jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
type EndpointEvent = Record<string, unknown> & { headers: Record<string, string> };

describe('the event that run gets', () => {
  let echo: Source;
  beforeAll(async () => {
    echo = await instance.deploy(echoCode());
  }, 30_000);

  const got = async (body: string | Buffer | undefined, headers: Record<string, string> = {}): Promise<EndpointEvent> =>
    jsonOf(await send(instance.endpoint(echo), { body, headers })) as EndpointEvent;

  // docs/reference/rest-api.md#endpoint-addresses
  it('holds method, path, query, headers, client_ip and url', async () => {
    const answer = await send(`${instance.endpoint(echo)}/a/b%20c?x=1&y=2&y=3`, {
      method: 'PUT',
      headers: { 'X-Custom-Header': 'Value', 'content-type': 'application/json' },
      body: '{"n": 1}',
    });
    expect(jsonOf(answer)).toMatchObject({
      method: 'PUT',
      path: expect.stringMatching(/^\/a\/b(%20| )c$/),
      query: { x: '1', y: ['2', '3'] },
      headers: { 'x-custom-header': 'Value', 'content-type': 'application/json' },
      client_ip: expect.stringContaining('127.0.0.1'),
      url: expect.stringContaining('/a/b'),
      bodyRaw: '{"n": 1}',
      body: { n: 1 },
    });
  });

  it('has the path / at the endpoint itself', async () => {
    expect(jsonOf(await send(instance.endpoint(echo), { method: 'GET' }))).toMatchObject({ path: '/', method: 'GET' });
  });

  const JSON_TYPE = 'application/json';
  const FORM = 'application/x-www-form-urlencoded';
  it.each<[string, string | undefined, string | undefined, unknown]>([
    ['JSON', JSON_TYPE, '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['JSON with a charset', 'application/json; charset=utf-8', '{"a":"é"}', { a: 'é' }],
    ['a +json type', 'application/vnd.api+json', '{"a":1}', { a: 1 }],
    ['bad JSON', JSON_TYPE, '{"a":', '{"a":'],
    ['a JSON scalar', JSON_TYPE, '42', 42],
    ['JSON as text/plain', 'text/plain', '{"Type":"Notification"}', { Type: 'Notification' }],
    ['JSON without a type', undefined, '{"a":1}', { a: 1 }],
    ['a form', FORM, 'a=1&b=two+words&a=2', { a: ['1', '2'], b: 'two words' }],
    ['JSON sent as a form', FORM, '{"a":1}', '{"a":1}'],
    ['text', 'text/plain', 'hello', 'hello'],
    ['XML', 'application/xml', '<a>1</a>', '<a>1</a>'],
    ['nothing', undefined, undefined, {}],
    ['nothing, as JSON', JSON_TYPE, '', {}],
  ])('parses %s', async (_name, type, text, body) => {
    const event = await got(text, type === undefined ? {} : { 'content-type': type });
    expect(event).toMatchObject({ bodyRaw: text ?? '', body });
  });

  it('keeps binary bodies as base64', async () => {
    const bytes = Buffer.from([0, 255, 254, 1, 2, 128]);
    const event = await got(bytes, { 'content-type': 'application/octet-stream' });
    expect(event).toMatchObject({ body: bytes.toString('base64'), isBase64Encoded: true });
  });

  it('parses multipart forms', async () => {
    const part = (name: string, value: string): string =>
      `--cut\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const text = `${part('title', 'Hello')}${part('tag', 'a')}${part('tag', 'b')}--cut--\r\n`;
    const event = await got(text, { 'content-type': 'multipart/form-data; boundary=cut' });
    expect(event.body).toMatchObject({ title: 'Hello', tag: ['a', 'b'] });
  });

  it('hands on large numbers and odd text in bodyRaw exactly', async () => {
    const text = '{ "big": 12345678901234567890, "text": "\\u0000 \u2028 🚰", "__proto__": { "x": 1 } }';
    const event = await got(text, { 'content-type': JSON_TYPE });
    expect(event.bodyRaw).toBe(text);
    expect(JSON.stringify(event.body)).toBe(JSON.stringify(JSON.parse(text)));
    const keys = ['method', 'path', 'query', 'headers', 'bodyRaw', 'body', 'client_ip', 'url'];
    expect(Object.keys(event)).toEqual(keys);
  });
});

describe('endpoints', () => {
  // docs/reference/rest-api.md#endpoint-accepted
  it('answer 200 and {"success": true} as JSON without customResponse', async () => {
    const source = await instance.deploy(relayCode());
    const answer = await instance.post(source, { n: 1 });
    expect({ status: answer.status, body: jsonOf(answer) }).toEqual({ status: 200, body: { success: true } });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(await instance.payloads(source, 1)).toEqual([{ n: 1 }]);
  });

  it('emit the event unchanged for a component without run', async () => {
    const source = await instance.deploy(
      `export default { name: 'Bare', version: '1', props: { http: '$.interface.http' } };`,
    );
    await instance.post(source, { n: 7 });
    expect(await instance.payloads(source, 1)).toEqual([expect.objectContaining({ method: 'POST', body: { n: 7 } })]);
  });

  it('pass a JSON body on byte for byte for a component without run, to lists, listeners and webhooks', async () => {
    const bare = `export default { name: 'Bare', version: '1', props: { http: '$.interface.http' } };`;
    const [source, listener] = [await instance.deploy(bare), await instance.deploy(bare)];
    await instance.api.call('POST', `/v1/subscriptions?emitter_id=${source.id}&listener_id=${listener.id}`, {});
    const body = '{ "id": 12345678901234567890, "rate": 1.0, "a": 1, "a": 2 }';
    await instance.post(source, body, { 'content-type': 'application/json' });
    await Promise.all([instance.payloads(source, 1), instance.payloads(listener, 1)]);
    for (const { id } of [source, listener]) {
      const list = await instance.api.call('GET', `/v1/sources/${id}/event_summaries?expand=event`);
      expect(list.text).toContain(`"body":${body},"client_ip"`);
      expect(list.text).toContain(`"bodyRaw":${JSON.stringify(body)},"body"`);
    }
  });

  // docs/reference/rest-api.md#half-closed
  it.each([
    ['an endpoint', 'POST', (source: Source) => new URL(instance.endpoint(source)).pathname, 200],
    [
      'an endpoint that waits for respond',
      'POST',
      (source: Source) => `${new URL(instance.endpoint(source)).pathname}/r`,
      200,
    ],
    ['a read of the API', 'GET', () => '/v1/users/me', 200],
    ['a change', 'POST', () => '/v1/sources', 415],
    ['a check', 'GET', () => '/healthz', 200],
    ['nothing', 'GET', () => '/nothing', 404],
  ])('answer a sender that closes its side after the request: %s', async (name, method, path, status) => {
    const source = await instance.deploy(name.endsWith('respond') ? echoCode() : relayCode());
    const { hostname, port } = new URL(instance.server.url);
    const key = `Authorization: Bearer ${instance.server.apiKey}`;
    const length = method === 'POST' ? 'Content-Length: 2\r\n' : '';
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.end(
          `${method} ${path(source)} HTTP/1.1\r\nHost: x\r\n${key}\r\n${length}\r\n${method === 'POST' ? 'hi' : ''}`,
        );
      });
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.once('error', reject).once('close', () => resolve(Buffer.concat(chunks).toString()));
    });
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  // docs/reference/rest-api.md#endpoint-options
  it('answer OPTIONS themselves', async () => {
    const source = await instance.deploy(relayCode());
    const answer = await send(instance.endpoint(source), { method: 'OPTIONS' });
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    const methods = String(answer.headers['access-control-allow-methods']);
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE']) expect(methods).toContain(method);
    expect(String(answer.headers['access-control-allow-headers']).split(/, */)).toEqual(['*', 'authorization']);
    expect((await instance.api.summaries(source.id)).data).toEqual([]);
  });

  // docs/reference/rest-api.md#endpoint-refusals
  it('are 404 when unknown, and 413 with the numbers above 512 KB', async () => {
    expect((await send(`${instance.server.url}/h/e0123456789abcde`, { body: {} })).status).toBe(404);
    const source = await instance.deploy(relayCode());
    const size = 512 * 1024 + 1;
    const answer = await send(instance.endpoint(source), {
      body: 'x'.repeat(size),
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(413);
    expect(answer.text).toContain(String(512 * 1024));
    expect(answer.text).toContain(String(size));
    expect(
      (await send(instance.endpoint(source), { body: 'x'.repeat(size - 1), headers: { 'content-type': 'text/plain' } }))
        .status,
    ).toBe(200);
  });

  it('refuse JSON nested too deep, naming the limit', async () => {
    const source = await instance.deploy(relayCode());
    const answer = await send(instance.endpoint(source), {
      body: '['.repeat(300) + ']'.repeat(300),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('256');
  });
});

describe('customResponse', () => {
  const answering = (statements: string): string =>
    componentCode({ props: CUSTOM_HTTP, members: `async run(event) { ${statements} },` });

  // docs/reference/rest-api.md#endpoint-custom-response
  it.each<[string, string, number, string | undefined, string]>([
    ['a text', `this.http.respond({ status: 201, body: 'made' });`, 201, 'text/plain', 'made'],
    ['an object', `this.http.respond({ status: 200, body: { a: 1 } });`, 200, 'application/json', '{"a":1}'],
    ['bytes', `this.http.respond({ status: 200, body: Buffer.from('raw') });`, 200, 'application/octet-stream', 'raw'],
    ['no body', `this.http.respond({ status: 204 });`, 204, undefined, ''],
    ['a status as text', `this.http.respond({ status: '202', body: 'x' });`, 202, 'text/plain', 'x'],
    ['no status', `this.http.respond({ body: 'x' });`, 200, 'text/plain', 'x'],
    [
      'a type of its own',
      `this.http.respond({ status: 200, headers: { 'Content-Type': 'text/csv' }, body: 'a,b' });`,
      200,
      'text/csv',
      'a,b',
    ],
    [
      'the first of two',
      `this.http.respond({ status: 200, body: 'first' }); this.http.respond({ status: 500, body: 'second' });`,
      200,
      'text/plain',
      'first',
    ],
    ['an error status', `this.http.respond({ status: 418, body: 'teapot' });`, 418, 'text/plain', 'teapot'],
    ['a redirect', `this.http.respond({ status: 302, headers: { location: '/elsewhere' } });`, 302, undefined, ''],
  ])('answers with %s', async (_name, statements, status, type, text) => {
    const answer = await instance.post(await instance.deploy(answering(statements)), {});
    expect({ status: answer.status, text: answer.text }).toEqual({ status, text });
    if (type !== undefined) expect(answer.headers['content-type']).toMatch(new RegExp(`^${type}`));
  });

  // docs/reference/rest-api.md#endpoint-custom-response
  it('answers 200 when respond was never called', async () => {
    expect((await instance.post(await instance.deploy(answering('return 1;')), {})).status).toBe(200);
  });

  // docs/reference/rest-api.md#endpoint-custom-response
  it('answers 500 when run threw before it, and tells the owner alone what', async () => {
    const source = await instance.deploy(answering(`throw new Error('no idea');`));
    const answer = await instance.post(source, {});
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('no idea');
    const [error] = await instance.history(source, 1, '$errors');
    const { original_context: context, error: told } = error?.event as Record<string, Record<string, unknown>>;
    expect(told).toMatchObject({ message: 'no idea' });
    expect(jsonOf(answer)).toMatchObject({ code: 'run_failed', details: { invocation_id: context?.['id'] } });
  });

  it.each(['99', '600', '"abc"', '200.5'])('throws on the status %s', async (status) => {
    const source = await instance.deploy(answering(`this.http.respond({ status: ${status}, body: 'x' });`));
    expect((await instance.post(source, {})).status).toBe(500);
    const [error] = await instance.history(source, 1, '$errors');
    expect(JSON.stringify(error?.event)).toContain('status');
  });

  it('answers at once with immediate, and the run continues', async () => {
    const source = await instance.deploy(
      componentCode({
        props: CUSTOM_HTTP,
        members: `async run() {
          this.http.respond({ status: 202, body: 'early', immediate: true });
          await fetch(${JSON.stringify('RECEIVER')} + '/reached');
          this.$emit({ late: true });
        },`,
      }).replace('RECEIVER', instance.receiver.url),
    );
    // The run cannot end until the receiver answers, but the reply comes before that.
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    instance.receiver.behave(() => ({ until: held }));
    const answer = await instance.post(source, {});
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 202, text: 'early' });
    expect((await instance.api.summaries(source.id)).data).toEqual([]);
    letGo();
    expect(await instance.payloads(source, 1)).toEqual([{ late: true }]);
  });

  it('gives HEAD the headers only', async () => {
    const source = await instance.deploy(
      answering(`this.http.respond({ status: 200, headers: { 'x-seen': event.method }, body: 'text' });`),
    );
    const answer = await send(instance.endpoint(source), { method: 'HEAD' });
    expect({ status: answer.status, text: answer.text, seen: answer.headers['x-seen'] }).toEqual({
      status: 200,
      text: '',
      seen: 'HEAD',
    });
  });

  it('serves requests of one source side by side', async () => {
    const source = await instance.deploy(
      componentCode({
        head: `let inside = 0, open; const allInside = new Promise((resolve) => (open = resolve));`,
        props: CUSTOM_HTTP,
        members: `async run(event) {
          if (++inside === 8) open();
          await allInside;
          this.http.respond({ status: 200, body: String(event.body.n) });
        },`,
      }),
    );
    const answers = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => instance.post(source, { n })));
    expect(answers.map(({ text }) => text)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
  });
});
