import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from '@jest/globals';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

interface Data<T> {
  readonly data: T;
}
interface Answer {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}

const instance = useInstance({ env: { SLUICE_MCP_WAIT_S: '2', SLUICE_CORS_ORIGINS: 'https://tools.example' } });
const { api, server } = instance;

const withClient = async <T>(act: (client: Client) => Promise<T>, key = server.apiKey, query = ''): Promise<T> => {
  const client = new Client({ name: 'spec', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp${query}`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  try {
    return await act(client);
  } finally {
    await client.close();
  }
};
const namesFor = (key?: string, query?: string): Promise<readonly string[]> =>
  withClient(async (client) => (await client.listTools()).tools.map(({ name }) => name), key, query);
const called = (name: string, given: Record<string, unknown> = {}, key?: string): Promise<Answer> =>
  withClient(async (client) => (await client.callTool({ name, arguments: given })) as unknown as Answer, key);
const deployed = async (name: string, body: string, tool: object = {}, more: object = {}): Promise<string> => {
  const steps = [{ namespace: 'a', code: `export default { async run({ steps, $ }) { ${body} } }` }];
  const triggers = [{ type: 'tool', description: `Does ${name}`, ...tool }];
  const { data } = await api.expect<Data<{ readonly id: string }>>(200, 'POST', '/v1/workflows', {
    body: { name, triggers, steps, ...more },
  });
  return data.id;
};
const saved = async (key: string, members: string, props: string, version = '0.0.1'): Promise<void> => {
  const code = componentCode({ key, version, props, members: `type: 'action', ${members}` });
  await api.expect(200, 'POST', '/v1/components', { body: { component_code: code } });
};
const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const ACCEPT = { accept: 'application/json, text/event-stream' };

// docs/reference/workflows.md#mcp
describe('tools over MCP', () => {
  it('76: are the workflows with a tool trigger and the actions with a key, and a call of each answers', async () => {
    const input = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] };
    const id = await deployed('Double it', 'return { twice: steps.trigger.event.n * 2 }', { input });
    await saved(
      'math-add',
      'run() { return this.a + this.b; }',
      `a: { type: 'integer' }, b: { type: 'integer', default: 1 }`,
    );
    const { tools } = await withClient((client) => client.listTools());
    expect(tools).toEqual(
      expect.arrayContaining([
        { name: 'double_it', title: 'Double it', description: 'Does Double it', inputSchema: input },
        expect.objectContaining({
          name: 'math-add',
          inputSchema: {
            type: 'object',
            properties: { a: { type: 'integer' }, b: { type: 'integer', default: 1 } },
            required: ['a'],
            additionalProperties: false,
          },
        }),
      ]),
    );
    expect(await called('math-add', { a: 2 })).toMatchObject({
      content: [{ text: '3' }],
      structuredContent: { ret: 3 },
    });
    const answer = await called('double_it', { n: 4 });
    expect(answer).toMatchObject({
      content: [{ text: '{"twice":8}' }],
      structuredContent: { state: 'succeeded', result: { twice: 8 } },
    });
    const run = await api.expect<Data<object>>(200, 'GET', `/v1/runs/${String(answer.structuredContent?.['run_id'])}`);
    expect(run.data).toMatchObject({
      workflow_id: id,
      trigger: { type: 'tool', id: null, name: 'tool' },
      event: { n: 4 },
    });
  });

  it('76: refuse an unknown tool by an error of the protocol, and wrong arguments by an answer', async () => {
    await expect(called('no_such_tool')).rejects.toMatchObject({ code: -32602 });
    const input = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    await deployed('Needs n', 'return 1', { name: 'needs_n', input });
    expect(await called('needs_n')).toMatchObject({
      isError: true,
      content: [{ text: 'InvalidArguments: arguments.n: is required' }],
    });
    await saved('half', 'run() { return this.n / 2; }', `n: { type: 'integer' }`);
    expect(await called('half', { number: 1 })).toMatchObject({ isError: true });
    expect(await called('half', { n: 'many' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^invalid_prop: /) as unknown as string }],
    });
  });

  it('tell what failed, what was answered, and that a run goes on', async () => {
    await deployed('Fails', `throw new TypeError('no luck')`, { name: 'fails' });
    expect(await called('fails')).toMatchObject({ isError: true, content: [{ text: 'TypeError: no luck' }] });
    await deployed('Responds', `await $.respond({ status: 200, body: { ok: true } }); return 1`, { name: 'responds' });
    expect(await called('responds')).toMatchObject({ structuredContent: { result: { ok: true } } });
    await deployed('Waits', '$.flow.suspend()', { name: 'waits' });
    expect(await called('waits')).toMatchObject({ structuredContent: { state: 'waiting' } });
    await deployed('Is slow', 'await new Promise((resolve) => setTimeout(resolve, 8_000))', { name: 'slow' });
    const slow = await called('slow');
    expect(slow).toMatchObject({ structuredContent: { state: 'running' } });
    expect(slow.content[1]?.text).toMatch(/^Run run_\w+ has not ended: its state is running/);
  }, 60_000);

  it('get the result of a workflow that keeps no runs', async () => {
    await deployed('Forgets', 'return 7', { name: 'forgets' }, { settings: { data_retention: 'none' } });
    expect(await called('forgets')).toMatchObject({ content: [{ text: '7' }], structuredContent: { result: 7 } });
  });

  it('are gone with the workflow, and while it is inactive', async () => {
    const id = await deployed('Comes and goes', 'return 1', { name: 'comes_and_goes' });
    expect(await namesFor()).toContain('comes_and_goes');
    await api.expect(200, 'PUT', `/v1/workflows/${id}`, { body: { active: false } });
    expect(await namesFor()).not.toContain('comes_and_goes');
    await api.expect(200, 'PUT', `/v1/workflows/${id}`, { body: { active: true } });
    expect(await namesFor()).toContain('comes_and_goes');
    await api.expect(204, 'DELETE', `/v1/workflows/${id}`);
    await expect(called('comes_and_goes')).rejects.toMatchObject({ code: -32602 });
  });

  it('are the newest version of an action, with values of a prop', async () => {
    const props = `colour: { type: 'string', async options({ query }) { return ['red', query ?? 'none']; } }`;
    await saved('paint', 'run() { return 1; }', `colour: { type: 'string' }`);
    await saved('paint', 'run() { return this.colour + 2; }', props, '0.0.2');
    expect(await called('paint', { colour: 'x' })).toMatchObject({ structuredContent: { ret: 'x2' } });
    const { tools } = await withClient((client) => client.listTools());
    const paint = tools.find(({ name }) => name === 'paint');
    expect(paint?.inputSchema.properties).toMatchObject({ colour: { description: 'Values: tool sluice_options' } });
    const asked = { tool: 'paint', prop: 'colour', query: 'blue' };
    expect((await called('sluice_options', asked)).structuredContent).toMatchObject({
      string_options: ['red', 'blue'],
    });
  });

  it('are those that only read for a key that only reads', async () => {
    await deployed('Looks', 'return 1', { name: 'looks', annotations: { readOnlyHint: true } });
    await deployed('Writes', 'return 1', { name: 'writes' });
    const key = await api.expect<Data<{ readonly key: string }>>(200, 'POST', '/v1/api_keys', {
      body: { read_only: true },
    });
    expect(await namesFor(key.data.key)).toEqual(['looks']);
    expect(await called('looks', {}, key.data.key)).toMatchObject({ content: [{ text: '1' }] });
    await expect(called('writes', {}, key.data.key)).rejects.toMatchObject({ code: -32602 });
  });
});

describe('a key for tools only', () => {
  it('76: opens its tools at /mcp, and nothing below /v1', async () => {
    await deployed('Opened', 'return 1', { name: 'opened' });
    await deployed('Closed', 'return 1', { name: 'closed' });
    const { data } = await api.expect<Data<{ readonly key: string }>>(200, 'POST', '/v1/api_keys', {
      body: { tools: ['opened', 'not_there_yet'] },
    });
    expect(await namesFor(data.key)).toEqual(['opened']);
    expect(await called('opened', {}, data.key)).toMatchObject({ structuredContent: { result: 1 } });
    await expect(called('closed', {}, data.key)).rejects.toMatchObject({ code: -32602 });
    await deployed('Late', 'return 1', { name: 'not_there_yet' });
    expect(await namesFor(data.key)).toEqual(['not_there_yet', 'opened']);
    const refused = await api.call<{ readonly code: string }>('GET', '/v1/workflows', { key: data.key });
    expect([refused.status, refused.body.code]).toEqual([403, 'tools_only_key']);
  });
});

describe('POST /mcp', () => {
  it('76: asks for a key, and takes no other method', async () => {
    expect((await api.call('POST', '/mcp', { key: null, body: message('tools/list'), headers: ACCEPT })).status).toBe(
      401,
    );
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const reply = await api.call<{ readonly code: string }>(method, '/mcp');
      expect([reply.status, reply.body.code, reply.headers['allow']]).toEqual([405, 'method_not_allowed', 'POST']);
    }
    const list = (query: Record<string, string>) =>
      api.call<{ readonly code: string }>('POST', '/mcp', { query, body: message('tools/list'), headers: ACCEPT });
    expect((await list({ workspace_id: 'o_none' })).status).toBe(404);
  });

  it('refuses pages of other origins', async () => {
    const from = async (origin: string) => {
      const headers = { ...ACCEPT, origin };
      return api.call<{ readonly code: string }>('POST', '/mcp', { body: message('tools/list'), headers });
    };
    const refused = await from('https://elsewhere.example');
    expect([refused.status, refused.body.code]).toEqual([403, 'origin_not_allowed']);
    expect((await from('null')).status).toBe(403);
    expect((await from('https://tools.example')).status).toBe(200);
    expect((await from(new URL(server.url).origin)).status).toBe(200);
  });

  it('answers what is no message of the protocol by its errors, and keeps nothing between messages', async () => {
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      api.call<{ readonly error?: { readonly code: number }; readonly result?: object }>('POST', '/mcp', {
        body,
        headers: { ...ACCEPT, ...headers },
      });
    expect(await post({ hello: 1 })).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
    expect(await post(message('resources/list'))).toMatchObject({ status: 200, body: { error: { code: -32601 } } });
    expect(await post(message('ping'), { accept: 'application/json' })).toMatchObject({ status: 406 });
    expect(await post(message('ping'), { 'mcp-protocol-version': '1999-01-01' })).toMatchObject({ status: 400 });
    expect(await post(message('ping'))).toMatchObject({ status: 200, body: { result: {} } });
    expect(await post([message('ping'), message('ping')])).toMatchObject({
      status: 400,
      body: { code: 'invalid_json' },
    });
    expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    const begun = message('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'spec', version: '1' },
    });
    const reply = await post(begun);
    expect(reply.body.result).toMatchObject({ protocolVersion: '2025-06-18', serverInfo: { name: 'sluice' } });
    expect(reply.headers['mcp-session-id']).toBeUndefined();
  });

  it('begins no run for a call that it cannot answer', async () => {
    const id = await deployed('As a task', 'return 1', { name: 'as_a_task' });
    const params = { name: 'as_a_task', arguments: {}, task: { ttl: 1_000 } };
    const reply = await api.call<{ readonly error?: object }>('POST', '/mcp', {
      body: message('tools/call', params),
      headers: ACCEPT,
    });
    expect(reply.body.error).toBeDefined();
    const runs = await api.expect<Data<readonly object[]>>(200, 'GET', `/v1/workflows/${id}/runs`);
    expect(runs.data).toEqual([]);
  });

  it('runs a call once for one Idempotency-Key', async () => {
    const id = await deployed('Once', 'return 1', { name: 'once' });
    const post = () =>
      api.call<{ readonly code?: string }>('POST', '/mcp', {
        body: message('tools/call', { name: 'once', arguments: {} }),
        headers: { ...ACCEPT, 'idempotency-key': 'one-call' },
      });
    expect((await post()).status).toBe(200);
    expect(await post()).toMatchObject({ status: 409, body: { code: 'reply_not_kept' } });
    const runs = await api.expect<Data<readonly object[]>>(200, 'GET', `/v1/workflows/${id}/runs`);
    expect(runs.data).toHaveLength(1);
  });
});
