import { type Area, type Request } from './case.js';

const BOUNDARY = 'xYz';
const part = (head: string, content: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
const FORM = [
  part('name="title"', 'A tide'),
  part('name="tag"', 'a'),
  part('name="tag"', 'b'),
  part('name="file"; filename="a.bin"\r\nContent-Type: image/png', '\u0000\u00ff'),
  `--${BOUNDARY}--\r\n`,
].join('');

const body = (title: string, request: Request, event: Record<string, unknown>, shows = 'endpoint-body') => ({
  component: 'http/body.mjs',
  title: `the body of ${title}`,
  shows: [shows],
  when: [{ request }],
  then: { emits: [event] },
});
const typed = (type: string, text: string): Request => ({ headers: { 'content-type': type }, body: text });

const reply = (title: string, asked: Record<string, unknown>, given: Record<string, unknown>, rule: string) => ({
  component: 'http/respond.mjs',
  title,
  shows: [rule, 'respond-when'],
  when: [{ request: typed('application/json', JSON.stringify(asked)) }],
  then: { replies: [given], errors: [] },
});

const fault = (title: string, asked: Record<string, unknown>, text: RegExp, rule: string) => ({
  component: 'http/respond-faults.mjs',
  title,
  shows: [rule, 'respond-missing'],
  when: [{ request: typed('application/json', JSON.stringify(asked)) }],
  then: { replies: [{ status: 500, body: /the component behind this address failed/ }], errors: [{ message: text }] },
});

export default {
  area: 'http',
  title: 'HTTP endpoints',
  cases: [
    {
      component: 'http/echo.mjs',
      title: 'the event of a request; a source that does not respond answers 200 without a body',
      shows: ['endpoint-event', 'respond-missing', 'warning-replies'],
      when: [{ request: { method: 'GET', path: '/a/b', query: 'x=1&x=2&y=', headers: { 'x-a': 'b' } } }],
      then: {
        emits: [
          {
            method: 'GET',
            path: '/a/b',
            query: { x: ['1', '2'], y: '' },
            headers: { 'x-a': 'b' },
            bodyRaw: '',
            body: {},
            client_ip: '192.0.2.7',
            url: 'https://ekey1.example.test/a/b?x=1&x=2&y=',
          },
        ],
        replies: [{ status: 200, headers: {}, body: '' }],
      },
    },
    body('application/json', typed('application/json', '{"a":1}'), { body: { a: 1 }, bodyRaw: '{"a":1}' }),
    body('application/vnd.api+json', typed('application/vnd.api+json', '[1]'), { body: [1], bodyRaw: '[1]' }),
    body('text/plain with JSON', typed('text/plain', '{"Type":"Note"}'), {
      body: { Type: 'Note' },
      bodyRaw: '{"Type":"Note"}',
    }),
    body('bad JSON', typed('application/json', '{"a":'), { body: '{"a":', bodyRaw: '{"a":' }),
    body('a form', typed('application/x-www-form-urlencoded', 'a=1&b=x+y&a=2'), {
      body: { a: ['1', '2'], b: 'x y' },
      bodyRaw: 'a=1&b=x+y&a=2',
    }),
    body('curl -d with JSON', typed('application/x-www-form-urlencoded', '{"a":1}'), {
      body: '{"a":1}',
      bodyRaw: '{"a":1}',
    }),
    body('plain text', typed('text/plain', 'héllo'), { body: 'héllo', bodyRaw: 'héllo' }),
    body(
      'bytes that are no UTF-8',
      { headers: { 'content-type': 'application/octet-stream' }, body: '\u00ff\u0000', binary: true },
      { body: '/wA=', bodyRaw: '/wA=', isBase64Encoded: true },
    ),
    body(
      'a multipart form with a file',
      { headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }, body: FORM, binary: true },
      {
        body: {
          title: 'A tide',
          tag: ['a', 'b'],
          file: { filename: 'a.bin', mimetype: 'image/png', content: 'AP8=' },
        },
        // The file is not text.
        bodyRaw: Buffer.from(FORM, 'latin1').toString('base64'),
        isBase64Encoded: true,
      },
      'endpoint-multipart',
    ),
    reply(
      'a text',
      { status: 201, kind: 'text' },
      { status: 201, headers: { 'content-type': /^text\/plain/ }, body: 'plain' },
      'respond-body',
    ),
    reply(
      'an object',
      { status: 200, kind: 'object' },
      { headers: { 'content-type': /^application\/json/ }, body: '{"a":1}' },
      'respond-body',
    ),
    reply(
      'a list',
      { status: 200, kind: 'list' },
      { headers: { 'content-type': /^application\/json/ }, body: '[1]' },
      'respond-body',
    ),
    reply(
      'a Buffer',
      { kind: 'buffer' },
      { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: '\u0000\u00ff' },
      'respond-body',
    ),
    reply('a Uint8Array', { kind: 'bytes' }, { body: 'AB' }, 'respond-body'),
    reply(
      'a stream',
      { status: 206, kind: 'stream' },
      { status: 206, headers: { 'content-type': 'application/octet-stream' }, body: 'a tide' },
      'respond-stream',
    ),
    reply(
      'a status as text, and no body',
      { status: '204', kind: 'none' },
      { status: 204, body: '' },
      'respond-status',
    ),
    reply(
      'headers of its own',
      { headers: { 'content-type': 'text/csv', 'x-n': 1, 'x-no': null }, kind: 'text' },
      { headers: { 'content-type': 'text/csv', 'x-n': '1' } },
      'respond-headers',
    ),
    reply('only the first respond', { status: 200, kind: 'text', twice: true }, { status: 200 }, 'respond-fields'),
    fault('a status of 99', { status: 99 }, /99/, 'respond-status'),
    fault('a status of 200.5', { status: 200.5 }, /200\.5/, 'respond-status'),
    reply(
      'a header of the connection, which is left out',
      { headers: { 'transfer-encoding': 'chunked', 'x-n': 1 }, kind: 'text' },
      { headers: { 'x-n': '1' }, body: 'plain' },
      'respond-headers',
    ),
    fault('a header with a line break', { headers: { 'x-a': 'a\nb' } }, /x-a/, 'respond-headers'),
    {
      component: 'http/immediate.mjs',
      title: 'an immediate reply is sent while the run goes on',
      shows: ['respond-when', 'respond-status'],
      when: [{ request: {} }],
      then: { replies: [{ status: 202, body: 'taken' }], emits: ['went on'] },
    },
    {
      component: 'http/throws.mjs',
      title: 'a throw before respond answers 500, a time-out 504',
      shows: ['respond-missing', 'run-timeout', 'error-platform-codes'],
      given: { timeoutMs: 500 },
      when: [{ request: typed('application/json', '{}') }, { request: typed('application/json', '{"hang":true}') }],
      then: {
        replies: [
          // The caller must not see the thrown error.
          {
            status: 500,
            body: /^\{"error":"the component behind this address failed","code":"run_failed","details":\{"invocation_id":"\w+"\}\}$/,
          },
          { status: 504, body: /did not answer in time","code":"timeout"/ },
        ],
        errors: [{ name: 'RangeError' }, { code: 'Timeout' }],
      },
    },
    {
      component: 'http/timer-and-http.mjs',
      title: 'a tick and a request are told apart by timestamp',
      shows: ['timer-event', 'endpoint-event'],
      when: [{ event: { timestamp: 1_767_225_600, cron: '0 * * * *' } }, { request: { method: 'PUT' } }],
      then: {
        emits: [
          ['tick', 1_767_225_600, '0 * * * *'],
          ['request', 'PUT'],
        ],
      },
    },
  ],
} satisfies Area;
