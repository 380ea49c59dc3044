import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type Reply } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';

/** An agent got a key for one tool, and whoever controls what it reads asks `POST /mcp` for more. */
const instance = useInstance();
const { api } = instance;

interface Key {
  readonly id: string;
  readonly key: string;
}
interface Answer {
  readonly code?: string;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: {
    readonly isError?: boolean;
    readonly content?: readonly { readonly text: string }[];
    readonly tools?: readonly { readonly name: string }[];
  };
}
type Json = Readonly<Record<string, unknown>>;
interface Asked {
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const ACCEPT = { accept: 'application/json, text/event-stream' };
const send = (method: string, params: Json, { headers, ...options }: Asked = {}): Promise<Reply<Answer>> =>
  api.call('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: { ...ACCEPT, ...headers },
    key: agent.key,
    ...options,
  });
const call = (name: string, given: Json = {}, options?: Asked): Promise<Reply<Answer>> =>
  send('tools/call', { name, arguments: given }, options);
const textOf = ({ body }: Reply<Answer>): string => body.result?.content?.[0]?.text ?? '';

const issue = async (body: object): Promise<Key> =>
  (await api.expect<Data<Key>>(200, 'POST', '/v1/api_keys', { body })).data;
const connected = async (app: string, token: string): Promise<string> => {
  const body = { app, credentials: { token } };
  return (await api.expect<Data<{ readonly id: string }>>(200, 'POST', '/v1/accounts', { body })).data.id;
};

/** Answers mask the texts of accounts, so the code spells them. */
const spelt = (text: string): string => [...text].join('.');
const PROPS = `
  chat: { type: 'app', app: 'chat' },
  room: { type: 'string', async options() { return [[...String(this.chat.$auth.token)].join('.')]; } },`;
let agent: Key;
let stranger: SecondWorkspace;
let accounts: { readonly chat: string; readonly bank: string };

beforeAll(async () => {
  stranger = await addWorkspace(instance, 'stranger');
  for (const [key, props, ret] of [
    ['chat-send', PROPS, "[...String(this.chat.$auth.token)].join('.')"],
    ['bank-pay', '', "'paid'"],
  ] as const) {
    const code = componentCode({ key, props, members: `type: 'action', run() { return ${ret}; }` });
    await api.expect(200, 'POST', '/v1/components', { body: { component_code: code } });
  }
  await connected('chat', 'first-chat');
  accounts = { chat: await connected('chat', 'second-chat'), bank: await connected('bank', 'token-of-the-bank') };
  agent = await issue({ name: 'agent', tools: ['chat-send'] });
}, 120_000);
afterAll(() => stranger.api.close());

// docs/reference/rest-api.md#api-key-tools
describe('a key for one tool', () => {
  it('lists and calls it', async () => {
    const { body } = await send('tools/list', {});
    expect(body.result?.tools?.map(({ name }) => name)).toEqual(['chat-send', 'sluice_options']);
    expect(textOf(await call('chat-send', { chat: accounts.chat, room: 'r' }))).toBe(
      JSON.stringify(spelt('second-chat')),
    );
  });

  it('gets the same answer for a tool of others as for none', async () => {
    const [others, none] = [await call('bank-pay'), await call('bank-xxx')];
    const shapeOf = ({ status, text }: Reply<Answer>) => [status, text.replace(/bank-\w+/, '')];
    expect(others.body.error).toMatchObject({ code: -32602 });
    expect(shapeOf(others)).toEqual(shapeOf(none));
    const asked = (tool: string) => call('sluice_options', { tool, prop: 'room' });
    expect(shapeOf(await asked('bank-pay'))).toEqual(shapeOf(await asked('bank-xxx')));
  });

  it.each([
    ['a call', 'chat-send', (chat: unknown) => ({ chat, room: 'r' })],
    ['the options', 'sluice_options', (chat: unknown) => ({ tool: 'chat-send', prop: 'room', arguments: { chat } })],
  ])('has no account of another app used by %s', async (_, tool, given) => {
    expect(textOf(await call(tool, given(accounts.chat)))).toContain(spelt('second-chat'));
    for (const account of [accounts.bank, { authProvisionId: accounts.bank }, 'apn_0k2f9x8a1b3c5d7e9f']) {
      const reply = await call(tool, given(account));
      expect(reply.body.result?.isError).toBe(true);
      expect(reply.text).not.toContain(spelt('token-of-the-bank'));
      expect(textOf(reply)).toMatch(/^InvalidArguments: argument chat must be one of apn_\w+, apn_\w+; got "apn_\w+"$/);
    }
  });

  it('reaches no workspace of others', async () => {
    const there = { query: { workspace_id: stranger.workspaceId } };
    expect(await call('chat-send', {}, there)).toMatchObject({ status: 403, body: { code: 'not_a_member' } });
    expect(await send('tools/list', {}, { query: { org_id: 'o_none' } })).toMatchObject({ status: 404 });
    const theirs = await send('tools/list', {}, { key: stranger.apiKey });
    expect(theirs.body.result?.tools).toEqual([]);
  });

  it('gets no answer that another key of its user got, by its Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': `paid-${process.pid}` };
    expect(textOf(await call('bank-pay', {}, { headers, key: instance.server.apiKey }))).toBe('"paid"');
    const reply = await call('bank-pay', {}, { headers });
    expect(reply.text).not.toContain('"paid"');
    expect(reply.body.result).toBeUndefined();
  });

  it('with read_only too opens what only reads, and what is in its list', async () => {
    const reader = await issue({ tools: ['chat-send', 'look'], read_only: true });
    const members = `type: 'action', annotations: { readOnlyHint: true }, run() { return 1; }`;
    for (const key of ['look', 'look-too']) {
      const code = componentCode({ key, props: '', members });
      await api.expect(200, 'POST', '/v1/components', { body: { component_code: code } });
    }
    const { body } = await send('tools/list', {}, { key: reader.key });
    expect(body.result?.tools?.map(({ name }) => name)).toEqual(['look']);
    for (const name of ['chat-send', 'look-too'])
      expect((await call(name, {}, { key: reader.key })).body.error).toMatchObject({ code: -32602 });
  });

  it('opens nothing once it is revoked', async () => {
    const other = await issue({ tools: ['chat-send'] });
    expect((await send('tools/list', {}, { key: other.key })).status).toBe(200);
    await api.expect(204, 'DELETE', `/v1/api_keys/${other.id}`);
    for (const reply of [
      await send('tools/list', {}, { key: other.key }),
      await call('chat-send', { chat: accounts.chat, room: 'r' }, { key: other.key }),
    ])
      expect(reply.status).toBe(401);
  });
});
