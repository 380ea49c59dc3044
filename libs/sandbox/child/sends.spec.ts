import { describe, expect, it } from '@jest/globals';
import { Sends } from './sends.js';

const sends = () => {
  const lines: string[] = [];
  const all = new Sends((kind, text) => lines.push(`${kind}: ${text}`));
  return { all, lines, $send: all.functions() };
};

describe('$.send', () => {
  it.each([
    ['http', undefined, 'undefined for the argument'],
    ['http', { url: 'ftp://a' }, '"ftp://a" for url'],
    ['http', { url: 'http://a', method: 'get' }, '"get" for method'],
    ['http', { url: 'http://a', params: [1] }, '[1] for params'],
    ['http', { url: 'http://a', headers: 'secret: x' }, 'of type string for headers'],
    ['http', { url: 'http://a', auth: { username: 'u' } }, 'of type object for auth'],
    ['email', { text: 'a' }, 'undefined for subject'],
    ['email', { subject: 's', html: 1 }, '1 for html'],
    ['emit', { raw_event: [] }, '[] for raw_event'],
    ['s3', { bucket: '', prefix: 'a', payload: 1 }, '"" for bucket'],
    ['s3', { bucket: 'b', payload: 1 }, 'undefined for prefix'],
    ['s3', { bucket: 'b', prefix: 'a' }, 'undefined for payload'],
    ...['/', '/a', 'a//b', 'a/./b', '..', 'a/..', 'a//', 'a\n', '\ud800', 'é'.repeat(486)].map(
      (prefix) => ['s3', { bucket: 'b', prefix, payload: 1 }, `${JSON.stringify(prefix).slice(0, 90)}`] as const,
    ),
    ['sse', { payload: 1 }, 'undefined for channel'],
  ] as const)('%s refuses %j', (kind, input, text) => {
    expect(() => sends().$send[kind](input)).toThrow(`$send.${kind}: invalid value ${text}`);
  });

  it('ignores further fields, and tells what only a workflow delivers', async () => {
    const { all, lines, $send } = sends();
    $send.email({ subject: 's', more: 1 });
    $send.emit({ raw_event: {} });
    for (const prefix of ['', 'a/b/', 'a.b/..c', `${'é'.repeat(485)}a`])
      $send.s3({ bucket: 'b', prefix, payload: null });
    $send.sse({ channel: 'c', payload: 0 });
    await all.deliver();
    expect(lines).toEqual(
      ['email', 'emit', 's3', 's3', 's3', 's3', 'sse'].map(
        (kind) =>
          `warning: $.send.${kind}: only workflows deliver it, so this single run of an action does not send it`,
      ),
    );
  });

  it('takes at most 100 messages of one run', () => {
    const { $send } = sends();
    for (let n = 0; n < 100; n++) $send.sse({ channel: 'c', payload: n });
    expect(() => $send.sse({ channel: 'c', payload: 0 })).toThrow('one run may send at most 100 messages');
  });
});
