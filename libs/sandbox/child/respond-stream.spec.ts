import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { type ChildMessage } from '../protocol/protocol.js';
import { runAction } from './action-run.js';
import { BoundComponent, type ComponentObject } from './component.js';
import { Execution } from './execution.js';
import { LateWork } from './late-work.js';
import { isStream } from './reply-stream.js';
import { type RespondInput } from './reply.js';
import { SourceDb } from './source-db.js';
import { Waiting } from './waiting.js';

const world = () => {
  const sent: [ChildMessage, string][] = [];
  const nothing = (): void => undefined;
  const send = (message: ChildMessage, raw = ''): void => void sent.push([message, raw]);
  const uplink = { send, spill: nothing, flush: nothing, flushIfOlderThan: nothing };
  const execution = new Execution(1, uplink, new SourceDb({}), new Waiting(), new LateWork(uplink), nothing);
  const replies = (): readonly unknown[] =>
    sent.filter(([[tag]]) => tag === 'r').map(([message, raw]) => [...message.slice(2), raw]);
  const reports = (): readonly unknown[] => sent.filter(([[tag]]) => tag === 'p').map(([message]) => message[2]);
  const warnings = (): readonly string[] =>
    sent.filter(([message]) => message[0] === 'l' && message[2] === 'warning').map(([, raw]) => raw);
  return { execution, replies, reports, warnings };
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const BYTES = { 'content-type': 'application/octet-stream' };

describe('a stream as the body of respond', () => {
  it.each<[string, () => unknown]>([
    ['a Readable of texts', () => Readable.from(['a ', 'tide'])],
    ['a Readable of bytes', () => Readable.from([Buffer.from('a '), Buffer.from('tide')])],
    ['a stream of the web', () => new Blob(['a ', 'tide']).stream()],
    ['the body of a fetched Response', () => new Response('a tide').body],
  ])('may be %s', async (_, make) => {
    const { execution, replies, warnings } = world();
    await execution.respond({ status: 201, body: make() });
    expect(replies()).toEqual([[201, BYTES, 0, 1, base64('a tide')]]);
    expect(warnings()).toEqual([]);
  });

  it('keeps the content type of its headers, and may be empty', async () => {
    const { execution, replies } = world();
    await execution.respond({ headers: { 'Content-Type': 'text/csv' }, body: Readable.from([]) });
    expect(replies()).toEqual([[200, { 'Content-Type': 'text/csv' }, 0, 1, '']]);
  });

  it('is the first reply, although a later one is complete before it', async () => {
    const { execution, replies, warnings } = world();
    const slow = new PassThrough();
    const first = execution.respond({ body: slow });
    await execution.respond({ status: 418 });
    await execution.respond({ status: 418, body: Readable.from(['no']) });
    slow.end('first');
    await first;
    expect(replies()).toEqual([[200, BYTES, 0, 1, base64('first')]]);
    expect(warnings()).toHaveLength(1);
  });

  it('that fails rejects, and leaves the reply to a later call', async () => {
    const { execution, replies } = world();
    const body = new PassThrough();
    const failed = expect(execution.respond({ body })).rejects.toThrow('the file is gone');
    body.destroy(new Error('the file is gone'));
    await failed;
    await execution.respond({ status: 502 });
    expect(replies()).toEqual([[502, {}, 0, 0, '']]);
  });

  it('that never ends is stopped at what a run may send, with the numbers', async () => {
    const { execution, replies } = world();
    let given = 0;
    const endless = new Readable({
      read() {
        given += 65_536;
        this.push(Buffer.alloc(65_536));
      },
    });
    await expect(execution.respond({ body: endless })).rejects.toMatchObject({
      code: 'FunctionPayloadLimitExceeded',
      message: expect.stringMatching(/the stream has 6\d{6} bytes or more, at most 6291456 \(6 MB\)/),
    });
    expect(endless.destroyed).toBe(true);
    expect(given).toBeLessThan(8 * 1024 * 1024);
    expect(replies()).toEqual([]);
  });

  it.each<[RespondInput, RegExp]>([
    [{ immediate: true }, /a stream cannot be sent with immediate: true: leave it out, and await respond/],
    [{ status: 99 }, /status must be an integer from 100 to 599, not 99/],
    [{ headers: { 'a b': 1 } }, /"a b" cannot be a header name/],
  ])('is refused before it is read: %j', (over, message) => {
    const { execution } = world();
    const body = Readable.from(['a']);
    expect(() => execution.respond({ ...over, body })).toThrow(message);
    expect(body.readableDidRead).toBe(false);
  });

  it('gives texts and bytes only', async () => {
    const { execution } = world();
    await expect(execution.respond({ body: Readable.from([{ a: 1 }]) })).rejects.toThrow(
      'respond: the stream gave a value of type object: a body is made of texts and bytes',
    );
  });

  it('that ends after the run is reported as lost', async () => {
    const { execution, replies, reports } = world();
    const slow = new PassThrough();
    const late = execution.respond({ body: slow });
    execution.end();
    slow.end('late');
    await late;
    expect(replies()).toEqual([]);
    expect(reports()).toEqual(['respond']);
  });

  it('is none of what is JSON or bytes', () => {
    for (const body of [{}, [], 'a', null, undefined, Buffer.from('a'), { pipe: 1 }, { pipe: () => 1 }])
      expect(isStream(body)).toBe(false);
  });
});

describe('$.respond of an action', () => {
  it('does not read a stream, because nobody gets it', async () => {
    const { execution, warnings } = world();
    const body = Readable.from(['a']);
    const component = {
      name: 'n',
      type: 'action',
      run: ({ $ }: { $: { respond: (input: RespondInput) => unknown } }) => $.respond({ status: 201, body }),
    } as ComponentObject;
    await runAction(new BoundComponent(component, {}, { tmp: '/tmp' }), execution, {
      runId: 'r',
      workspaceId: 'o_1',
      ts: '2026-01-01T00:00:00Z',
      timeoutMs: 1_000,
    });
    expect(warnings()).toEqual(['$.respond: a single run has no caller, so the reply with status 201 reaches nobody']);
    expect(body.readableDidRead).toBe(false);
  });
});
