import { describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { answerMcp, type McpHandlers } from './mcp-sdk.js';

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const idle: McpHandlers = { list: async () => ({ tools: [] }), call: async () => undefined };
const ask = async (body: unknown, handlers: Partial<McpHandlers> = {}, headers: object = {}) => {
  const { status, text } = await answerMcp(body, { ...HEADERS, ...headers }, { ...idle, ...handlers }, '1.2.3');
  return { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
};
const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });

// docs/reference/workflows.md#mcp
describe('a message of the protocol', () => {
  it('begins a connection, of which nothing is kept', async () => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
    expect(await ask(message('initialize', params))).toMatchObject({
      status: 200,
      body: {
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'sluice', version: '1.2.3' },
        },
      },
    });
    expect(await ask({ jsonrpc: '2.0', method: 'notifications/initialized' })).toEqual({
      status: 202,
      body: undefined,
    });
  });

  it('asks for a page of the list', async () => {
    const asked: unknown[] = [];
    const list: McpHandlers['list'] = async (after) => {
      asked.push(after);
      return { tools: [{ name: 'a', title: 'A', inputSchema: { type: 'object' } }], next: 'a' };
    };
    expect(await ask(message('tools/list'), { list })).toEqual({
      status: 200,
      body: {
        jsonrpc: '2.0',
        id: 7,
        result: { tools: [{ name: 'a', title: 'A', inputSchema: { type: 'object' } }], nextCursor: 'a' },
      },
    });
    await ask(message('tools/list', { cursor: 'a' }), { list });
    expect(asked).toEqual([undefined, 'a']);
  });

  it('calls a tool, with the arguments as they are', async () => {
    const calls: unknown[] = [];
    const call: McpHandlers['call'] = async (...given) => {
      calls.push(given);
      return { content: [{ type: 'text', text: 'x' }], structuredContent: { ret: 1 } };
    };
    const reply = await ask(message('tools/call', { name: 'a', arguments: { b: { c: [1] } } }), { call });
    expect(reply.body).toMatchObject({ result: { content: [{ text: 'x' }], structuredContent: { ret: 1 } } });
    await ask(message('tools/call', { name: 'a' }), { call });
    expect(calls).toEqual([
      ['a', { b: { c: [1] } }],
      ['a', undefined],
    ]);
  });

  it('is refused by an error of the protocol for an unknown tool, and calls none as a task', async () => {
    const unknown = await ask(message('tools/call', { name: 'x'.repeat(500) }));
    expect(unknown).toMatchObject({ status: 200, body: { error: { code: -32602 } } });
    expect(JSON.stringify(unknown.body).length).toBeLessThan(300);
    let calls = 0;
    const call: McpHandlers['call'] = async () => {
      calls++;
      return { content: [] };
    };
    const task = await ask(message('tools/call', { name: 'a', task: { ttl: 1 } }), { call });
    expect([task.body, calls]).toMatchObject([{ error: {} }, 0]);
  });

  it('ends with what failed, which is not for the model', async () => {
    const failure = new DomainError('platform.unavailable', 'gone');
    const call = () => Promise.reject(failure);
    await expect(ask(message('tools/call', { name: 'a' }), { call })).rejects.toBe(failure);
    await expect(ask(message('tools/list'), { list: call })).rejects.toBe(failure);
  });

  it.each<[string, unknown, object, number]>([
    ['no message', { hello: 1 }, {}, 400],
    ['a client that takes no stream', message('ping'), { accept: 'application/json' }, 406],
    ['another type', message('ping'), { 'content-type': 'text/plain' }, 415],
    ['an unknown revision', message('ping'), { 'mcp-protocol-version': '1999-01-01' }, 400],
    ['a method that is not served', message('resources/list'), {}, 200],
  ])('is answered with an error: %s', async (_, body, headers, status) => {
    expect(await ask(body, {}, headers)).toMatchObject({ status, body: { error: {} } });
  });
});
