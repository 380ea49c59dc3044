import { Agent, createServer, request, type RequestListener } from 'node:http';
import { type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { answerAtLast } from '#libs/http/last-answer.js';
import { parseChildMessage } from '#libs/sandbox/protocol/child-message.js';
import { ProtocolBreach } from '#libs/framing/records.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { sendReply } from './send-reply.js';

/** Generates the same numbers for the same seed (mulberry32). */
const seeded = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
};

const NAMES = [
  ...['trailer', 'Trailer', 'transfer-encoding', 'content-length', 'connection', 'upgrade', 'te', 'keep-alive', 'date'],
  ...['set-cookie', 'content-type', 'content-disposition', 'content-encoding', 'expect', 'host', 'via', 'x-a', 'X-A'],
  ...['__proto__', 'constructor', '', ' ', 'a b', 'a:b', 'a\r\nb', 'é', '\0', 'x'.repeat(257), 'status', 'location'],
];
const VALUES = [
  ...['', 'x', 'chunked', 'close', '0', '-1', '5, 5', 'a\r\nb: c', '\n', '\0', '\t', '\x7f', 'é', '€', '\ud800', '🙂'],
  ...['x'.repeat(16_384), 'x'.repeat(16_385), [], ['a', 'b'], ['\r'], [[]], null, 5, true, {}, undefined],
];
const STATUSES = [
  99,
  100,
  101,
  102,
  103,
  199,
  200,
  201,
  204,
  205,
  206,
  301,
  304,
  404,
  500,
  599,
  600,
  0,
  -1,
  NaN,
  '200',
];
const BODIES = ['', 'text', 'é€🙂', '\ud800', '\0', 'x'.repeat(70_000), 'aGk=', '!!not base64!!', '===='];

const replies = (random: () => number) => {
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  return () => ({
    status: random() < 0.3 ? Math.floor(random() * 700) : one(STATUSES),
    headers: Object.fromEntries(Array.from({ length: Math.floor(random() * 4) }, () => [one(NAMES), one(VALUES)])),
    body: one(BODIES),
    base64: random() < 0.3,
  });
};

const serving = async (listener: RequestListener, work: (ask: () => Promise<string>) => Promise<void>) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const { port } = server.address() as AddressInfo;
  const ask = (): Promise<string> =>
    new Promise((resolve) => {
      const req = request({ port, host: '127.0.0.1', agent, maxHeaderSize: 200_000 }, (res) => {
        res.resume().once('close', () => resolve(String(res.statusCode)));
      });
      req.once('error', () => resolve('closed')).end();
    });
  try {
    await work(ask);
  } finally {
    agent.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
};

describe('a reply of a component', () => {
  it('can be sent once it passed the host, whatever a hostile child puts in it', async () => {
    const next = replies(seeded(1));
    let sent = 0;
    let breaches = 0;
    const failures: string[] = [];
    const listener: RequestListener = (_req, res) => {
      for (;;) {
        const { status, headers, body, base64 } = next();
        const json = Buffer.from(JSON.stringify(['r', 1, status, headers, 0, base64 ? 1 : 0]));
        try {
          const message = parseChildMessage({ index: 0, json, raw: Buffer.from(body) });
          if (message[0] !== 'r') throw new Error('another kind');
          sendReply(res, { status: message[2], headers: message[3], body, base64 }, false, null);
          sent++;
        } catch (error) {
          if (error instanceof ProtocolBreach) {
            breaches++;
            continue;
          }
          failures.push(`${json.toString()}: ${String(error)}`);
          res.destroy();
        }
        return;
      }
    };
    await serving(listener, async (ask) => {
      for (let i = 0; i < 2_000; i++) expect(await ask()).toMatch(/^[2-5]\d\d$/);
    });
    expect(failures).toEqual([]);
    expect([sent, breaches > 1_000]).toEqual([2_000, true]);
  });

  it('fails alone when it was not checked: it is answered or its connection ends', async () => {
    const next = replies(seeded(2));
    let thrown = 0;
    let asked = 0;
    const listener: RequestListener = (_req, res) => {
      if (++asked > 2_000) return void res.writeHead(204).end();
      try {
        sendReply(res, next() as Partial<HttpReply> as HttpReply, false, null);
      } catch {
        thrown++;
        answerAtLast(res, { status: 500, code: 'run_failed', error: 'no' });
      }
    };
    await serving(listener, async (ask) => {
      for (let i = 0; i < 2_000; i++) await ask();
      expect(await ask()).toBe('204');
    });
    expect(thrown).toBeGreaterThan(200);
  });

  it('would throw again in an answer that keeps the header (control)', async () => {
    const seen: string[] = [];
    const listener: RequestListener = (_req, res) => {
      for (const write of [() => res.end('x'), () => res.writeHead(500).end('x')]) {
        try {
          res.setHeader('trailer', 'x').setHeader('content-length', 1);
          write();
        } catch (error) {
          seen.push((error as NodeJS.ErrnoException).code ?? '');
        }
      }
      answerAtLast(res, { status: 503, code: 'unavailable', error: 'later', headers: { 'retry-after': '1' } });
    };
    await serving(listener, async (ask) => expect(await ask()).toBe('503'));
    expect(seen).toEqual(['ERR_HTTP_TRAILER_INVALID', 'ERR_HTTP_TRAILER_INVALID']);
  });
});
