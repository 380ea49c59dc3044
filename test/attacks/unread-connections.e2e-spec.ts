import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient, endpointOf } from '#test/harness/api-client.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { endsWithUs } from '#test/harness/ends-with-us.js';
import { useStandalone } from '#test/harness/instance.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';
import { tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';
import { DELAY_MS, measured } from './cost-to-others.js';

const MB = 1024 * 1024;

const instance = useStandalone();
const sockets: Socket[] = [];
let stranger: SecondWorkspace;

beforeAll(async () => {
  stranger = await addWorkspace(instance, 'mallory');
  // The document is made at the first request.
  await fetch(`${instance.server.url}/v1/openapi.json`).then((reply) => reply.text());
}, 60_000);
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const dial = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
};
const dialMany = (port: number, count: number): Promise<Socket[]> =>
  Promise.all(Array.from({ length: count }, () => dial(port)));

const server = (): { pid: number; url: string; port: number } => {
  const { pid, url } = instance.server;
  return { pid, url, port: Number(new URL(url).port) };
};

/** A server that does what an ordinary one does: answers what it parsed, and gathers bodies. */
const unbounded = async (
  answerBytes: number,
): Promise<{ pid: number; url: string; port: number; child: ChildProcess }> => {
  const file = join(tempDir('unbounded'), 'server.mjs');
  writeFileSync(
    file,
    `import { createServer } from 'node:http';
    const text = 'x'.repeat(${answerBytes});
    const bodies = [];
    createServer((req, res) => {
      if (req.url === '/healthz') return void res.end('ok');
      const parts = [];
      bodies.push(parts);
      req.on('data', (part) => parts.push(part)).on('error', () => undefined).on('end', () => res.end(text + bodies.length));
    }).listen(0, '127.0.0.1', function () { process.send(this.address().port); });`,
  );
  const child = fork(file, { stdio: 'ignore' });
  endsWithUs(child);
  const [port] = (await once(child, 'message')) as [number];
  return { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}`, port, child };
};

describe('1,400 requests written ahead on a connection that reads nothing', () => {
  const flood = (path: string, more = ''): string => `${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`.repeat(1_400);
  const GROWN_MB = 150;

  it.each([
    ['the document of the API', 1, () => flood('GET /v1/openapi.json')],
    ['the document, on 20 connections', 20, () => flood('GET /v1/openapi.json')],
    ['the document, packed', 20, () => flood('GET /v1/openapi.json', 'Accept-Encoding: gzip\r\n')],
    ['the page of the API', 20, () => flood('GET /v1/docs')],
    ['health', 20, () => flood('GET /healthz')],
    ['readiness', 20, () => flood('GET /readyz')],
    ['metrics', 20, () => flood('GET /metrics')],
    ['no route', 20, () => flood('GET /v1/nothing')],
    ['no endpoint', 20, () => flood('POST /h/none', 'Content-Length: 0\r\n')],
    ['a wrong key', 20, () => flood('POST /v1/sources', 'Authorization: Bearer no\r\nContent-Length: 0\r\n')],
    ['the caller', 20, () => flood('GET /v1/users/me', `Authorization: Bearer ${instance.server.apiKey}\r\n`)],
    ['what cannot be met', 200, () => flood('GET /', 'Expect: all\r\n')],
    ['another host', 20, () => flood('GET http://other.example/v1/openapi.json')],
    ['the document, on 200 connections', 200, () => flood('GET /v1/openapi.json')],
  ])(
    `costs less than ${GROWN_MB} MB, and others less than ${DELAY_MS} ms: %s`,
    async (_name, connections, text) => {
      const { port } = server();
      const all = await dialMany(port, connections);
      const { grownMb, delayMs } = await measured(
        server(),
        async () => all.forEach((each) => each.write(text())),
        1_500,
      );
      expect(grownMb).toBeLessThan(GROWN_MB);
      expect(delayMs).toBeLessThan(DELAY_MS);
    },
    60_000,
  );

  it('costs far more where nothing stops it (the control)', async () => {
    const other = await unbounded(350_000);
    try {
      const [socket] = await dialMany(other.port, 1);
      const { grownMb } = await measured(other, async () => socket?.write(flood('GET /x')), 1_500);
      expect(grownMb).toBeGreaterThan(2 * GROWN_MB);
    } finally {
      other.child.kill();
    }
  }, 60_000);

  it('are all answered, in order, once the connection is read', async () => {
    const { port } = server();
    const [socket] = await dialMany(port, 1);
    socket?.write(flood('GET /v1/openapi.json', 'Accept-Encoding: gzip\r\n'));
    await pause(300);
    let answers = 0;
    socket
      ?.on('data', (chunk: Buffer) => (answers += chunk.toString('latin1').split('HTTP/1.1 200').length - 1))
      .resume();
    // One more or less, where the chunk ends within the words.
    await eventually('1,400 answers', async () => (answers >= 1_390 ? true : undefined), 60_000);
  }, 90_000);
});

describe('300 requests whose last byte never comes', () => {
  const BODY = 2_300_000;
  const GROWN_MB = 250;
  const unfinished = (path: string, key: string, more = `Content-Length: ${BODY + 1}`): Buffer =>
    Buffer.concat([
      Buffer.from(
        `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`,
      ),
      Buffer.alloc(BODY, ' '),
    ]);
  const chunked = (path: string, key: string): Buffer => {
    const head = Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const piece = Buffer.from(`8000\r\n${' '.repeat(0x8000)}\r\n`);
    return Buffer.concat([head, ...Array.from({ length: 70 }, () => piece)]);
  };

  /** Sends the same bytes on many connections, and returns the status and text of the answers. */
  const send = async (port: number, count: number, text: Buffer): Promise<string[]> => {
    const answers: string[] = [];
    for (const socket of await dialMany(port, count)) {
      socket.on('data', (chunk: Buffer) => answers.push(chunk.toString())).resume();
      socket.write(text);
    }
    return answers;
  };

  it.each([
    ['of a declared length', () => unfinished('/v1/sources', stranger.apiKey)],
    ['in chunks', () => chunked('/v1/components', stranger.apiKey)],
  ])(
    `cost less than ${GROWN_MB} MB, are refused with the limit, and those of others are taken: %s`,
    async (_name, text) => {
      let answers: string[] = [];
      const { grownMb, delayMs } = await measured(
        server(),
        async () => (answers = await send(server().port, 300, text())),
        3_000,
      );
      expect(grownMb).toBeLessThan(GROWN_MB);
      expect(delayMs).toBeLessThan(DELAY_MS);
      const refused = await eventually(
        '200 refusals',
        async () => {
          const found = answers.filter((answer) => answer.startsWith('HTTP/1.1 429'));
          return found.length > 200 ? found : undefined;
        },
        30_000,
      );
      expect(refused[0]).toMatch(
        /"code":"too_much_in_flight","details":\{"limit":\d+,"actual":\d+,"scope":"(user|workspace)"/,
      );
      // Another client sends as much.
      const code = `${relayCode()}\n//${'x'.repeat(900_000)}`;
      expect((await instance.deploy(code)).id).toMatch(/^dc_/);
    },
    90_000,
  );

  it('of an endpoint cost as little, and other workspaces are served', async () => {
    const source = await stranger.api.createSource({ component_code: relayCode(), configured_props: {} });
    const path = new URL(endpointOf(instance.server, source)).pathname;
    const neighbour = await instance.deploy(relayCode());
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 500001\r\n\r\n`;
    const text = Buffer.concat([Buffer.from(head), Buffer.alloc(500_000, 'x')]);
    let answers: string[] = [];
    const { grownMb } = await measured(server(), async () => (answers = await send(server().port, 600, text)), 3_000);
    expect(grownMb).toBeLessThan(GROWN_MB);
    await eventually(
      '300 refusals',
      async () => (answers.filter((answer) => answer.startsWith('HTTP/1.1 429')).length > 300 ? true : undefined),
      30_000,
    );
    expect((await instance.post(neighbour, 'x'.repeat(400_000))).status).toBe(200);
    // A small event of the same source still arrives.
    expect((await fetch(endpointOf(instance.server, source), { method: 'POST', body: '{}' })).status).toBe(200);
  }, 90_000);

  it('cost more where nothing stops them (the control)', async () => {
    const other = await unbounded(1);
    try {
      const { grownMb } = await measured(other, () => send(other.port, 300, unfinished('/x', 'no')), 3_000);
      expect(grownMb).toBeGreaterThan(GROWN_MB);
    } finally {
      other.child.kill();
    }
  }, 90_000);
});

describe('150 pages of megabytes that nobody reads', () => {
  const GROWN_MB = 600;

  it(`cost less than ${GROWN_MB} MB, are refused with the limit, and those of others are served`, async () => {
    const heavy = componentCode({ members: `run() { this.$emit({ text: 'x'.repeat(${2 * MB}) }); },` });
    const [source, own] = await Promise.all([
      stranger.api.createSource({ component_code: heavy, configured_props: {} }),
      instance.deploy(heavy),
    ]);
    for (let n = 0; n < 4; n++) {
      await fetch(endpointOf(instance.server, source), { method: 'POST', body: '{}' });
      await instance.post(own, {});
    }
    const pageOf = (api: ApiClient, id: string) =>
      api.call('GET', `/v1/sources/${id}/event_summaries`, { query: { expand: 'event' } });
    for (const [api, { id }] of [
      [stranger.api, source],
      [instance.api, own],
    ] as const)
      await eventually(
        'all events',
        async () => ((await pageOf(api, id)).text.length > 5 * MB ? true : undefined),
        60_000,
      );

    const path = `/v1/sources/${source.id}/event_summaries?expand=event`;
    const text = `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${stranger.apiKey}\r\n\r\n`;
    const all = await dialMany(server().port, 150);
    const { grownMb, delayMs } = await measured(server(), async () => all.forEach((each) => each.write(text)), 5_000);
    expect(grownMb).toBeLessThan(GROWN_MB);
    expect(delayMs).toBeLessThan(DELAY_MS);
    const page = await pageOf(instance.api, own.id);
    expect([page.status, page.text.length > 5 * MB]).toEqual([200, true]);
    // The kernel buffers a varying part of a page for a client that reads nothing, so the first answers prove nothing.
    const answers = all.map(() => '');
    all.forEach((socket, n) => socket.on('data', (part: Buffer) => (answers[n] ||= part.toString('latin1'))));
    // Answers that had begun are complete for a client that reads on, and then there is room again.
    for (const socket of all) socket.resume();
    const refused = await eventually(
      'answers to all',
      async () => (answers.includes('') ? undefined : answers.filter((answer) => answer.startsWith('HTTP/1.1 429'))),
      60_000,
    );
    expect(refused.length).toBeGreaterThan(50);
    expect(refused[0]).toMatch(/"code":"too_much_in_flight","details":\{"limit":\d+,"actual":\d+,"scope":"user"/);
    await eventually(
      'room',
      async () => ((await pageOf(stranger.api, source.id)).status === 200 ? true : undefined),
      60_000,
    );
  }, 180_000);
});
