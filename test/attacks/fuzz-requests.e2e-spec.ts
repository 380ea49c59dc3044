import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { echoCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { bytesOf, type FuzzedRequest, type Known, RequestFuzz } from './fuzzed-request.js';

const REQUESTS = 10_000;
/** Number of these that no HTTP client would send, each on its own connection. */
const MALFORMED = 1_000;
const AT_ONCE = 16;
/** One event of the neighbour per this many fuzzed requests. */
const NEIGHBOUR_EVERY = 25;

interface Outcome {
  /** 0: the connection closed without an answer. */
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

describe(`${REQUESTS.toLocaleString('en')} fuzzed requests`, () => {
  const instance = useInstance();
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let known: Known;
  let neighbour: Source;
  let webhook: string;

  beforeAll(async () => {
    const [echo, victim, other] = await Promise.all([
      instance.deploy(echoCode()),
      instance.deploy(echoCode()),
      instance.deploy(relayCode()),
    ]);
    neighbour = other;
    webhook = await instance.listen(neighbour.id);
    const path = new URL(instance.endpoint(echo)).pathname;
    known = {
      source: victim.id,
      component: victim.component_id,
      webhook: (await instance.api.createWebhook('http://127.0.0.1:1/')).id,
      endpoint: path,
    };
  }, 120_000);

  const send = (fuzzed: FuzzedRequest): Promise<Outcome> =>
    new Promise((resolve) => {
      const closed = (): void => resolve({ status: 0, retryAfter: undefined, text: '' });
      const headers = { authorization: `Bearer ${fuzzed.key ?? instance.server.apiKey}`, ...fuzzed.headers };
      const url = new URL(instance.server.url);
      const target = { host: url.hostname, port: url.port, method: fuzzed.method, path: fuzzed.path, headers, agent };
      const call = request(target, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.once('error', closed);
        res.once('end', () => {
          const retryAfter = res.headers['retry-after'];
          resolve({ status: res.statusCode ?? 0, retryAfter, text: Buffer.concat(chunks).toString().slice(0, 500) });
        });
      });
      call.once('error', closed);
      call.end(fuzzed.body);
    });

  const sendBytes = (bytes: Buffer): Promise<Outcome> =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const url = new URL(instance.server.url);
      const socket = connect(Number(url.port), url.hostname, () => socket.end(bytes));
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.once('error', () => socket.destroy());
      socket.once('close', () => {
        const text = Buffer.concat(chunks).toString();
        const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
        resolve({ status, retryAfter: /retry-after: *(\S+)/i.exec(text)?.[1], text: text.slice(0, 500) });
      });
    });

  /** RSS of one process. The roles have many. */
  const rssMb = (): number => {
    if (!(instance.server instanceof Server)) return 0;
    const status = readFileSync(`/proc/${instance.server.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  };
  const pid = (): number => (instance.server instanceof Server ? instance.server.pid : 0);

  it('end no process, break no answer, and lose no event of a neighbour', async () => {
    const fuzz = new RequestFuzz(20_251_122, known);
    const before = { pid: pid(), rss: 0 };
    const statuses = new Map<number, number>();
    const wrong: string[] = [];
    let sent = 0;
    let posted = 0;

    const note = (what: string, { status, retryAfter, text }: Outcome): void => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const isAnswer = status < 500 || status === 504 || (status === 503 && retryAfter !== undefined);
      if (!isAnswer) wrong.push(`${what} answered ${status}: ${text}`);
    };
    const worker = async (): Promise<void> => {
      while (sent < REQUESTS) {
        const n = sent++;
        if (n === 1_000) before.rss = rssMb();
        if (n % NEIGHBOUR_EVERY === 0) {
          expect((await instance.post(neighbour, { n: posted++ })).status).toBe(200);
        }
        if (n % (REQUESTS / MALFORMED) === 0 && instance.server instanceof Server) {
          const bytes = bytesOf(fuzz, known);
          note(JSON.stringify(bytes.toString('latin1').slice(0, 300)), await sendBytes(bytes));
        } else {
          const fuzzed = fuzz.next();
          note(JSON.stringify(fuzzed).slice(0, 600), await send(fuzzed));
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    agent.destroy();

    expect(wrong).toEqual([]);
    // Control: the fuzz reached its targets and was not refused at a single check.
    const rare = [200, 400, 404].filter((status) => (statuses.get(status) ?? 0) < 500);
    expect({ rare, statuses: [...statuses] }).toEqual({ rare: [], statuses: [...statuses] });
    expect(pid()).toBe(before.pid);
    await eventually('every event of the neighbour at its webhook', async () =>
      instance.arrived(webhook).length >= posted ? true : undefined,
    );
    const numbers = instance.arrived(webhook).map((body) => (body as { n: number }).n);
    expect(new Set(numbers).size).toBe(posted);
    expect(rssMb()).toBeLessThanOrEqual(2 * before.rss + 100);
  }, 240_000);
});
