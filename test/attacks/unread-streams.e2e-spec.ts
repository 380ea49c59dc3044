import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { EventSource } from '#test/harness/event-source.js';
import { send } from '#test/harness/http.js';
import { useStandalone } from '#test/harness/instance.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';
import { eventually } from '#test/harness/wait.js';

const MB = 1_000_000;
/** Streams and size of the event of the attack. */
const STREAMS = 400;
const EVENT = 5 * MB;
const LARGEST = 6 * MB;
/** Delay for others that a slow machine may cause. */
const DELAY_MS = 8_000;

/** One process, without a proxy, which would read in place of the client. */
const instance = useStandalone();
let stranger: SecondWorkspace;
beforeAll(async () => {
  stranger = await addWorkspace(instance, 'mallory');
}, 120_000);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await eventually(
    'no open stream',
    async () => ((await metric('sluice_streams_open')) === 0 ? true : undefined),
    60_000,
  );
}, 90_000);

/** Emits a text of the size on the channel, as the body asks. */
const heavyCode = (): string =>
  componentCode({
    members: `run({ body }) { this.$emit({ n: body.n, text: 'x'.repeat(body.size) }, { name: body.channel }); },`,
  });
const memoryOf = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
const metric = async (name: string): Promise<number> => {
  const { text } = await instance.api.call('GET', '/metrics', { key: null });
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line === name);
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
};
const ended = (why: string): Promise<number> => metric(`sluice_streams_ended_total{why="${why}"}`);

/** A client of one stream. */
class Reader {
  bytes = 0;
  closed = false;
  /** Whether an event has arrived completely. */
  isWhole = false;
  private head = '';
  private tail = '';

  private constructor(socket: Socket) {
    socket.on('error', () => undefined);
    socket.once('close', () => (this.closed = true));
    closing.push(() => socket.destroy());
  }

  /** @param pauseMs pause after each chunk of 64 KB at most; Infinity reads the headers alone. */
  static async open(path: string, key: string, pauseMs: number, headers = ''): Promise<Reader> {
    const { hostname, port } = new URL(instance.server.url);
    const socket = connect(Number(port), hostname);
    const reader = new Reader(socket);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${headers}\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    reader.take(first);
    if (Number.isFinite(pauseMs)) {
      socket.on('data', (chunk: Buffer) => {
        reader.take(chunk);
        socket.pause();
        setTimeout(() => socket.resume(), pauseMs);
      });
      socket.resume();
    }
    return reader;
  }

  get status(): number {
    return Number(this.head.slice(9, 12));
  }

  private take(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.head === '') this.head = chunk.toString('latin1', 0, 100);
    // Comments that keep the connection alive may follow within the chunk.
    this.tail = (this.tail + chunk.toString('latin1', Math.max(0, chunk.length - 400))).slice(-400);
    if (this.tail.replaceAll(/\r\n(?:[0-9a-f]+\r\n)?/g, '').includes('"}\n\n')) this.isWhole = true;
  }
}

const streamOf = ({ id }: Source, query = ''): string => `/v1/sources/${id}/sse${query}`;
const openUnread = async (paths: readonly string[], key: string): Promise<Reader[]> => {
  const readers: Reader[] = [];
  for (let i = 0; i < paths.length; i += 50) {
    readers.push(...(await Promise.all(paths.slice(i, i + 50).map((path) => Reader.open(path, key, Infinity)))));
  }
  return readers;
};

// docs/reference/limits.md#stream-unsent
describe('streams that nobody reads', () => {
  it('of one user cost the memory of one event, delay nobody, and are cut', async () => {
    const source = await stranger.api.createSource({ component_code: heavyCode() });
    const post = (n: number) => instance.post(source, { n, size: EVENT });
    // The run's own memory is no part of the figure.
    for (let n = 0; n < 3; n++) await post(n);
    const neighbour = await instance.deploy(heavyCode());
    const reading = await EventSource.open(`${instance.server.url}${streamOf(neighbour)}`, instance.server.apiKey);
    closing.push(() => reading.close());
    const readers = await openUnread(
      Array.from({ length: STREAMS }, () => streamOf(source)),
      stranger.apiKey,
    );
    expect(new Set(readers.map(({ status }) => status))).toEqual(new Set([200]));
    const before = memoryOf(instance.server.pid);
    const slow = await ended('too slow');
    let most = before;
    await post(4);
    await instance.post(neighbour, { n: 1, size: 1_000 });
    await reading.until(1);
    await eventually(
      'the end of every unread stream',
      async () => {
        most = Math.max(most, memoryOf(instance.server.pid));
        return (await ended('too slow')) - slow >= STREAMS ? true : undefined;
      },
      60_000,
      100,
    );
    expect(most - before).toBeLessThan(200 * MB);
    expect(reading.ended).toBe(false);
    // Control: written as text to each response, a quarter as many take more.
    expect(await memoryOfText(STREAMS / 4)).toBeGreaterThan(200 * MB);
  }, 180_000);

  it('of many events have a sum, and a stranger who reads gets every event meanwhile', async () => {
    const channels = Array.from({ length: 60 }, (_, n) => `c${n}`);
    const source = await stranger.api.createSource({ component_code: heavyCode() });
    const before = memoryOf(instance.server.pid);
    const cut = await ended('too much unsent');
    await openUnread(
      channels.map((channel) => streamOf(source, `?event_name=${channel}`)),
      stranger.apiKey,
    );
    const own = await instance.deploy(heavyCode());
    const reader = await Reader.open(streamOf(own), instance.server.apiKey, 20);
    let most = before;
    for (const [n, channel] of channels.entries()) {
      await instance.post(source, { n, size: EVENT, channel });
      most = Math.max(most, memoryOf(instance.server.pid));
    }
    await instance.post(own, { n: 1, size: LARGEST });
    await eventually('the whole event', () => (reader.isWhole ? true : undefined), 60_000);
    expect(reader.bytes).toBeGreaterThan(LARGEST);
    expect((await ended('too much unsent')) - cut).toBeGreaterThan(0);
    expect(await metric('sluice_streams_unsent_bytes')).toBeLessThan(70 * MB);
    // Control: the events are 300 MB.
    expect(channels.length * EVENT).toBeGreaterThan(250 * MB);
    expect(most - before).toBeLessThan(400 * MB);
  }, 180_000);

  it('that resume read a large event once, and nothing for who has left', async () => {
    const own = await instance.deploy(heavyCode());
    const source = await stranger.api.createSource({ component_code: heavyCode() });
    for (let n = 0; n < 2; n++) await instance.post(source, { n, size: EVENT });
    await eventually('both events', async () => {
      const { data } = await stranger.api.summaries(source.id, {});
      return data.length === 2 ? true : undefined;
    });
    const before = memoryOf(instance.server.pid);
    const resume = (): Promise<unknown> =>
      openUnread(
        Array.from({ length: STREAMS }, () => streamOf(source, '?last_event_id=1-0')),
        stranger.apiKey,
      );
    await resume();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(memoryOf(instance.server.pid) - before).toBeLessThan(250 * MB);
    expect(await metric('sluice_streams_unsent_bytes')).toBeLessThan(70 * MB);
    // Nothing is read for clients that leave while they wait, so others are served at once.
    for (const close of closing.splice(0)) await close();
    await resume();
    for (const close of closing.splice(0)) await close();
    const from = performance.now();
    expect((await instance.api.call('GET', `/v1/sources/${own.id}/event_summaries`)).status).toBe(200);
    expect(performance.now() - from).toBeLessThan(DELAY_MS);
  }, 120_000);
});

// docs/reference/workflows.md#run-streams
describe('streams of runs that nobody reads', () => {
  const deployed = async ({ api }: Pick<SecondWorkspace, 'api'>) => {
    const steps = [
      {
        namespace: 'a',
        code: `export default { run({ $, event }) {
          $.export('x', 'x'.repeat(event.body.size));
          for (let n = 0; n < 900; n++) console.log('l'.repeat(250));
          if (event.body.waits) $.flow.suspend();
        } }`,
      },
    ];
    const body = { name: 'w', triggers: [{ type: 'http' }], steps };
    const { data } = await api.expect<{ data: { id: string; triggers: { endpoint_url: string }[] } }>(
      200,
      'POST',
      '/v1/workflows',
      { body },
    );
    const run = async (event: object): Promise<string> => {
      const { headers } = await send(data.triggers[0]?.endpoint_url ?? '', { body: event });
      const path = `/v1/runs/${String(headers['x-sluice-run-id'])}`;
      await eventually('the run waits or has ended', async () => {
        const { body: reply } = await api.call<{ data?: { state: string } }>('GET', path);
        return ['waiting', 'succeeded'].find((each) => each === reply.data?.state);
      });
      return path;
    };
    return { path: `/v1/workflows/${data.id}/runs/sse`, run };
  };

  it('cost little memory however large the run is, and delay nobody', async () => {
    const [attacked, neighbour] = [await deployed(stranger), await deployed(instance)];
    const large = `${await attacked.run({ size: EVENT, waits: true })}/sse`;
    const reading = await EventSource.open(`${instance.server.url}${neighbour.path}`, instance.server.apiKey);
    closing.push(() => reading.close());
    const before = memoryOf(instance.server.pid);
    const paths = Array.from({ length: STREAMS }, (_, n) => (n % 2 === 0 ? large : attacked.path));
    const readers = await openUnread(paths, stranger.apiKey);
    expect(new Set(readers.map(({ status }) => status))).toEqual(new Set([200]));
    for (let n = 0; n < 5; n++) await attacked.run({ size: EVENT });
    const from = performance.now();
    await neighbour.run({ size: 1 });
    await reading.until(1);
    expect(performance.now() - from).toBeLessThan(DELAY_MS);
    expect(memoryOf(instance.server.pid) - before).toBeLessThan(400 * MB);
    expect(await metric('sluice_streams_unsent_bytes')).toBeLessThan(70 * MB);
    expect(reading.ended).toBe(false);
  }, 180_000);

  it('open for no other workspace and no forged key', async () => {
    const { path, run } = await deployed(stranger);
    const paths = [path, `${await run({ size: 1, waits: true })}/sse`];
    const statusesOf = async (key: string): Promise<readonly number[]> =>
      (await openUnread(paths, key)).map(({ status }) => status);
    expect(await statusesOf(instance.server.apiKey)).toEqual([404, 404]);
    const forged = `${stranger.apiKey.slice(0, -1)}${stranger.apiKey.endsWith('0') ? '1' : '0'}`;
    expect(await statusesOf(forged)).toEqual([401, 401]);
    const inQuery = paths.map((each) => `${each}?access_token=${forged}`);
    for (const each of inQuery)
      expect((await EventSource.open(`${instance.server.url}${each}`, '', { key: null })).status).toBe(401);
    expect(await statusesOf(stranger.apiKey)).toEqual([200, 200]);
  });
});

// docs/reference/rest-api.md#stream-end
describe('a stream that is read slowly', () => {
  it('gets an event of 6 MB, live and when it resumes, while one that is not read is cut', async () => {
    const source = await instance.deploy(heavyCode());
    const { apiKey } = instance.server;
    const unread = await Reader.open(streamOf(source), apiKey, Infinity);
    const live = await Reader.open(streamOf(source), apiKey, 150);
    const slow = await ended('too slow');
    await instance.post(source, { n: 1, size: LARGEST });
    await eventually('the event in the list', async () => {
      const { data } = await instance.api.summaries(source.id, {});
      return data.length === 1 ? true : undefined;
    });
    const resumed = await Reader.open(streamOf(source), apiKey, 150, 'Last-Event-ID: 1-0\r\n');
    for (const reader of [live, resumed]) {
      await eventually('the whole event', () => (reader.isWhole ? true : undefined), 90_000);
      expect([reader.closed, reader.bytes > LARGEST]).toEqual([false, true]);
    }
    await eventually('its end', async () => ((await ended('too slow')) - slow === 1 ? true : undefined));
    expect(unread.bytes).toBeLessThan(LARGEST);
  }, 180_000);
});

// docs/reference/limits.md#streams
describe('the streams of one user', () => {
  it('are counted over all keys, and others open theirs', async () => {
    const source = await stranger.api.createSource({ component_code: heavyCode() });
    const keys: string[] = [];
    for (let n = 0; n < 12; n++) {
      const { data } = await stranger.api.expect<{ data: { key: string } }>(200, 'POST', '/v1/api_keys', {
        body: { name: `Key ${n}` },
      });
      keys.push(data.key);
    }
    const statuses: number[] = [];
    for (const key of keys) {
      const opened = await openUnread(
        Array.from({ length: 50 }, () => streamOf(source)),
        key,
      );
      statuses.push(...opened.map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(500);
    expect(statuses.filter((status) => status === 429)).toHaveLength(100);
    const own = await instance.deploy(heavyCode());
    const mine = await openUnread(
      Array.from({ length: 50 }, () => streamOf(own)),
      instance.server.apiKey,
    );
    expect(new Set(mine.map(({ status }) => status))).toEqual(new Set([200]));
  }, 120_000);
});

/** Memory in bytes of a server that writes an event as text to each of as many unread responses. */
const memoryOfText = async (streams: number): Promise<number> => {
  const program = `
    const open = [];
    const server = require('node:http').createServer((_, response) => {
      response.writeHead(200); response.write('open');
      open.push(response);
      if (open.length < ${streams}) return;
      const event = 'x'.repeat(${EVENT});
      for (const each of open) each.write('data: ' + event + '\\n\\n');
      setTimeout(() => console.log('written'), 1000);
    }).listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    const before = memoryOf(child.pid);
    const written = once(child.stdout, 'data');
    for (let n = 0; n < streams; n++) {
      const socket = connect(Number(port.toString()), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.pause();
      closing.push(() => socket.destroy());
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    }
    await written;
    return memoryOf(child.pid) - before;
  } finally {
    child.kill('SIGKILL');
  }
};
