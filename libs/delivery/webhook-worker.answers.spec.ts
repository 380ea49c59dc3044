import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createEgress, type Egress } from '#libs/egress/guarded-dispatcher.js';
import { startRawReceiver, type Piece, type RawReceiver } from './testing/raw-receiver.js';
import { harnessForEach, until, FAST_RETRIES, type Attempt, type WorkerHarness } from './testing/worker-harness.js';

/** Answers that strict parsers refuse, over real sockets (docs/reference/delivery.md#answers-read). */
const harness = harnessForEach();
let egress: Egress;
const receivers: RawReceiver[] = [];

beforeEach(() => {
  egress = createEgress({ allow: ['127.0.0.1'] });
});

afterEach(async () => {
  await egress.close();
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

interface Seen {
  readonly attempts: readonly Attempt[];
  readonly receiver: RawReceiver;
  readonly h: WorkerHarness;
}

/** Delivers to a receiver that answers with these pieces until nothing waits for a retry. */
const deliver = async (pieces: readonly Piece[], { count = 1, timeoutMs = 2_000 } = {}): Promise<Seen> => {
  const h = harness();
  const receiver = await startRawReceiver(pieces);
  receivers.push(receiver);
  await h.webhook('wh_a', receiver.url, { timeoutMs });
  await h.start({ retries: { ...FAST_RETRIES, delaysMs: [10] } }, { dispatcher: egress.dispatcher });
  for (let n = 1; n <= count; n++) {
    await h.deliver('wh_a', 1, n);
    await until(() => h.lag('wh_a') === 0 && h.due.entries.size === 0 && h.attempts().length >= n);
  }
  return { attempts: h.attempts(), receiver, h };
};

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n';
const BODY = 'Content-Length: 2\r\n\r\nok';

type Case = readonly [name: string, status: number, ...pieces: Piece[]];

const INTERIM: readonly Case[] = [
  ['an unasked 100 Continue', 204, CONTINUE + NO_CONTENT],
  ['100 Continue in a packet of its own', 204, CONTINUE, NO_CONTENT],
  ['a thousand of them', 200, CONTINUE.repeat(1000), `HTTP/1.1 200 OK\r\n${BODY}`],
  ['100 Continue byte by byte', 204, ...(CONTINUE + NO_CONTENT)],
  [
    '100 Continue with headers',
    202,
    `HTTP/1.1 100 Continue\r\nDate: today\r\nX: ü\r\n\r\nHTTP/1.1 202 Accepted\r\n${BODY}`,
  ],
  [
    '102 Processing and 103 Early Hints',
    200,
    'HTTP/1.1 102 Processing\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
    `HTTP/1.1 200 OK\r\n${BODY}`,
  ],
  [
    '101 that nobody asked for',
    204,
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n${NO_CONTENT}`,
  ],
  ['100 Continue with bare line feeds', 204, 'HTTP/1.1 100 Continue\n\nHTTP/1.1 204 No Content\r\n\r\n'],
  ['100 Continue before an answer with bare line feeds', 201, `${CONTINUE}HTTP/1.1 201 Created\n\n`],
];

const FRAMING: readonly Case[] = [
  [
    'Content-Length beside Transfer-Encoding',
    200,
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  ],
  [
    'Transfer-Encoding beside Content-Length',
    200,
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  ],
  ['two lengths', 201, 'HTTP/1.1 201 Created\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'],
  ['a length that is no number', 200, 'HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok'],
  ['a negative length', 200, 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
  ['a length beyond all numbers', 200, `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(40)}\r\n\r\nok`],
  ['chunks that are none', 200, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nok'],
  ['more than the length', 200, `HTTP/1.1 200 OK\r\n${BODY}and more`],
  ['less than the length, and the end', 200, 'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok', 'end'],
  ['an unknown transfer coding', 200, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked, x\r\n\r\nok'],
];

const LINES: readonly Case[] = [
  ['bare line feeds', 200, `HTTP/1.1 200 OK\nX: y\nContent-Length: 2\n\nok`],
  ['bare line feeds in packets of their own', 204, 'HTTP/1.1 204 No Content', '\n', 'X: y', '\n', '\n'],
  ['bare carriage returns', 204, 'HTTP/1.1 204 No Content\rX: y\r\r'],
  ['two carriage returns before each line feed', 204, 'HTTP/1.1 204 No Content\r\r\nX: y\r\r\n\r\r\n'],
  ['mixed line ends', 200, `HTTP/1.1 200 OK\r\nX: y\nContent-Length: 2\r\n\nok`],
  ['empty lines before the answer', 204, `\r\n\r\n${NO_CONTENT}`],
  ['a folded header', 200, `HTTP/1.1 200 OK\r\nX: y\r\n  z\r\n${BODY}`],
  ['a fold before the first header', 200, `HTTP/1.1 200 OK\r\n X: y\r\n${BODY}`],
];

const CHARACTERS: readonly Case[] = [
  ['a control character in a value', 200, `HTTP/1.1 200 OK\r\nX: a\x01b\r\n${BODY}`],
  ['a zero byte in a value', 200, `HTTP/1.1 200 OK\r\nX: a\0b\r\n${BODY}`],
  ['UTF-8 in a value', 200, Buffer.from(`HTTP/1.1 200 OK\r\nX: Größe 日本\r\n${BODY}`)],
  ['a space in a name', 200, `HTTP/1.1 200 OK\r\nX Y: z\r\n${BODY}`],
  ['a space before the colon', 200, `HTTP/1.1 200 OK\r\nX : z\r\n${BODY}`],
  ['a letter with an accent in a name', 200, `HTTP/1.1 200 OK\r\nGr\xF6\xDFe: 1\r\n${BODY}`],
  ['a line without a colon', 200, `HTTP/1.1 200 OK\r\nnonsense\r\n${BODY}`],
  ['an empty name', 200, `HTTP/1.1 200 OK\r\n: z\r\n${BODY}`],
  ['headers beyond the 16 KB of the client', 200, `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n${BODY}`],
  [
    'headers that do not end within 64 KB',
    202,
    'HTTP/1.1 202 Accepted\r\n',
    ...Array.from({ length: 40 }, () => `X: ${'x'.repeat(2_000)}\r\n`),
  ],
];

const STATUS_LINES: readonly Case[] = [
  ['no reason', 204, 'HTTP/1.1 204\r\n\r\n'],
  ['two spaces', 204, 'HTTP/1.1  204  No Content\r\n\r\n'],
  ['HTTP/1.0', 200, 'HTTP/1.0 200 OK\r\n\r\nok', 'end'],
  ['a version that does not exist', 204, 'HTTP/1.2 204 No Content\r\n\r\n'],
  ['HTTP/2 as text', 204, 'HTTP/2 204\r\n\r\n'],
  ['a reason with an umlaut and a control character', 200, `HTTP/1.1 200 Sch\xF6n\x02\r\n${BODY}`],
  ['small letters', 200, `http/1.1 200 OK\r\n${BODY}`],
  ['the status line alone, and the end', 204, 'HTTP/1.1 204 No Content\r\n', 'end'],
  ['the status alone, and the end', 204, 'HTTP/1.1 204', 'end'],
  ['half of the headers, and a reset', 200, 'HTTP/1.1 200 OK\r\nContent-', 'reset'],
];

describe('startWebhookWorker: answers that strict parsers refuse', () => {
  it.each([...INTERIM, ...FRAMING, ...LINES, ...CHARACTERS, ...STATUS_LINES])(
    'counts an answer with %s',
    async (_, status, ...pieces) => {
      const { attempts, receiver } = await deliver(pieces);
      expect(attempts.map((one) => [one.status, one.error, one.headers.outcome])).toEqual([[status, null, 'success']]);
      expect(receiver.requests()).toBe(1);
    },
  );

  it.each([
    ['CRLF', '\r\n'],
    ['bare line feeds', '\n'],
  ])('repeats a 503 with %s, as its Retry-After says', async (_, line) => {
    const { attempts } = await deliver([
      CONTINUE,
      ['HTTP/1.1 503 Busy', 'Bad Name: x', 'Retry-After: 0', '', ''].join(line),
    ]);
    expect(attempts.map((one) => [one.status, one.headers.outcome])).toEqual([
      [503, 'retry'],
      [503, 'final'],
    ]);
  });

  it('keeps the start of a body after headers that the client refuses', async () => {
    const { attempts } = await deliver([`HTTP/1.1 400 Bad\r\nX Y: z\r\nContent-Length: 7\r\n\r\nbecause`]);
    expect(attempts).toEqual([expect.objectContaining({ status: 400, responseSnippet: 'because' })]);
  });

  it('sends nothing more on a connection whose answer was refused', async () => {
    const { receiver, attempts } = await deliver([`HTTP/1.1 200 OK\r\nX Y: z\r\n${BODY}`], { count: 3 });
    expect(attempts.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect([receiver.requests(), receiver.connections()]).toEqual([3, 3]);
  });

  it('goes on with a connection after 100 Continue and a strict answer', async () => {
    const { receiver, attempts } = await deliver([`${CONTINUE}HTTP/1.1 200 OK\r\n${BODY}`], { count: 3 });
    expect(attempts.map(({ status, responseSnippet }) => [status, responseSnippet])).toEqual(
      Array(3).fill([200, 'ok']),
    );
    expect([receiver.requests(), receiver.connections()]).toEqual([3, 1]);
  });

  it.each<readonly [string, string, ...Piece[]]>([
    ['1xx without an end', 'TOO_MANY_INTERIM_ANSWERS', ...Array.from({ length: 60 }, () => CONTINUE.repeat(1_000))],
    [
      'a 1xx whose headers do not end',
      'TOO_MANY_INTERIM_ANSWERS',
      'HTTP/1.1 100 Continue\r\n',
      ...Array.from({ length: 40 }, () => `X: ${'x'.repeat(2_000)}\r\n`),
    ],
    ['100 Continue alone', 'TIMEOUT', CONTINUE],
    ['100 Continue and the end', 'UND_ERR_SOCKET', CONTINUE, 'end'],
    ['no HTTP', 'HTTPParserError', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['half of a status', 'UND_ERR_SOCKET', 'HTTP/1.1 20', 'end'],
    ['a status of four digits', 'HTTPParserError', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ])('repeats after %s, which is no answer', async (_, code, ...pieces) => {
    const { attempts, receiver } = await deliver(pieces, { timeoutMs: 1_500 });
    expect(attempts.map(({ status, error }) => [status, error?.split(':', 1)[0]])).toEqual(Array(2).fill([null, code]));
    expect(receiver.requests()).toBe(2);
  });
});
