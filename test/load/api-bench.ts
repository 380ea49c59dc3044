import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ApiClient, type Data, endpointOf, type Paged, type Source } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { send } from '#test/harness/http.js';
import { ROOT } from '#test/harness/paths.js';
import { Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { newHistogram, quantilesMs } from './latencies.js';
import { monotonicUs } from './monotonic.js';
import { RawConnection } from './raw-connection.js';

/**
 * Measures reads and changes over the API against a bare Nest route with the same call of the store, in turns, with 64
 * raw connections: `npm run bench:api [sources] [rounds]`. Then, at 500 events/s, how soon a new event can be read. It
 * asserts no time.
 */
const count = Number(process.argv[2] ?? 10_000);
const rounds = Number(process.argv[3] ?? 3);
const CONNECTIONS = 64;
const MEASURE_MS = 5_000;
const server = new Server({
  env: { SLUICE_MAX_SOURCES: String(2 * count), SLUICE_LOG_LEVEL: 'error', SLUICE_EVENTS_KEPT: '100' },
});
const api = new ApiClient(server);

type Request = (n: number) => { readonly method: string; readonly path: string; readonly body?: string };
interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

/** Closed loop. Ends after `total` requests, or after the time of a measurement. */
const measure = async (url: string, request: Request, headers = '', total = Infinity): Promise<Measured> => {
  const { hostname, port } = new URL(url);
  const times = newHistogram();
  const end = monotonicUs() + MEASURE_MS * 1_000;
  let [sent, failed] = [0, 0];
  const startedAt = monotonicUs();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = new RawConnection(hostname, Number(port));
      for (let at = monotonicUs(); sent < total && (total !== Infinity || at < end); at = monotonicUs()) {
        const { method, path, body = '' } = request(sent++);
        const type = body === '' ? '' : 'content-type: application/json\r\n';
        const head = `${method} ${path} HTTP/1.1\r\nhost: ${hostname}\r\n${headers}${type}content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
        const status = await new Promise<number>((answered) => connection.send({ head, path, body }, answered));
        if (status < 200 || status >= 300) failed++;
        times.recordValue(Math.max(1, Math.round(monotonicUs() - at)));
      }
      connection.close();
    }),
  );
  const { p50, p99 } = quantilesMs(times);
  return { perSecond: Math.round((sent * 1e6) / (monotonicUs() - startedAt)), p50, p99, failed };
};

const startFloor = async (userId: string, list: string): Promise<{ child: ChildProcess; url: string }> => {
  const args = [join(ROOT, 'dist/test/load/api-floor.js'), server.dataDir, userId, list];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, url: `http://127.0.0.1:${port}` };
};

const told = (name: string, measured: Measured | Record<string, unknown>): void =>
  console.log(JSON.stringify({ name, ...measured }));

/** Time from sending an event until a read shows it, while 500 other events a second come in. */
const readable = async (load: readonly Source[], probed: Source): Promise<void> => {
  const times = newHistogram();
  const body = JSON.stringify({ pad: 'x'.repeat(1_000) });
  let running = true;
  let sent = 0;
  const startedAt = performance.now();
  const others = Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (running) {
        const due = ((performance.now() - startedAt) / 1_000) * 500;
        if (sent >= due) await new Promise((resolve) => setTimeout(resolve, 2));
        else await send(endpointOf(server, load[sent++ % load.length]!), { body });
      }
    }),
  );
  for (let n = 0; n < 300; n++) {
    const at = monotonicUs();
    await send(endpointOf(server, probed), { body: { probe: n } });
    const query = { limit: '1' };
    for (let newest: unknown; newest !== n;) {
      const { data } = await api.summaries(probed.id, query);
      newest = (data[0]?.event as { probe?: number } | undefined)?.probe;
    }
    times.recordValue(Math.round(monotonicUs() - at));
  }
  running = false;
  await others;
  const rate = Math.round(sent / ((performance.now() - startedAt) / 1_000));
  told('newest event readable, ms from sending it', { ...quantilesMs(times), eventsPerSecond: rate });
};

await server.start();
try {
  const auth = `authorization: Bearer ${server.apiKey}\r\n`;
  const { data: me } = await api.expect<Data<{ id: string }>>(200, 'GET', '/v1/users/me');
  const component = await api.createComponent(relayCode());
  const made: string[] = [];
  const body = JSON.stringify({ component_id: component.id });
  const create: Request = () => ({ method: 'POST', path: '/v1/sources', body });
  told('create sources, all of one name', await measure(server.url, create, auth, count));
  const cursors: string[] = [''];
  for (let after = ''; ;) {
    const query = { limit: '100', ...(after === '' ? {} : { after }) };
    const page = await api.expect<Paged<Source>>(200, 'GET', '/v1/users/me/sources', { query });
    made.push(...page.data.map(({ id }) => id));
    if (page.data.length < 100 || page.page_info.end_cursor === null) break;
    cursors.push((after = page.page_info.end_cursor));
  }
  const [probed, ...load] = await Promise.all(
    made.slice(0, 11).map(async (id) => (await api.expect<Data<Source>>(200, 'GET', `/v1/sources/${id}`)).data),
  );
  for (let n = 0; n < 100; n++) await send(endpointOf(server, load[0]!), { body: { n } });
  await eventually(
    '100 events',
    async () => (await api.summaries(load[0]!.id, { limit: '100' })).data.length === 100 || undefined,
  );
  await readable(load, probed!);

  const listPath = (n: number): string => {
    const cursor = cursors[n % cursors.length] ?? '';
    return `/v1/users/me/sources?limit=100${cursor === '' ? '' : `&after=${encodeURIComponent(cursor)}`}`;
  };
  const idOf = (cursor: string): string => Buffer.from(cursor, 'base64').toString();
  const renamed = made.slice(2_000);
  // The pages begin after what is not deleted.
  const removable = made.slice(20, 2_000).filter((_, n) => (n + 21) % 100 !== 0);
  for (let round = 1; round <= rounds; round++) {
    if (round > 1) await server.start();
    told(
      `list of ${made.length} sources, 100 a page`,
      await measure(server.url, (n) => ({ method: 'GET', path: listPath(n) }), auth),
    );
    const summaries = `/v1/sources/${load[0]!.id}/event_summaries?limit=100`;
    told('100 event summaries', await measure(server.url, () => ({ method: 'GET', path: summaries }), auth));
    const rename: Request = (n) => {
      const name = JSON.stringify({ name: `Renamed ${round} ${n}` });
      return { method: 'PUT', path: `/v1/sources/${renamed[n % renamed.length] ?? ''}`, body: name };
    };
    told('rename a source', await measure(server.url, rename, auth));
    const doomed = removable.slice((round - 1) * 500, round * 500);
    const remove: Request = (n) => ({ method: 'DELETE', path: `/v1/sources/${doomed[n] ?? ''}` });
    told('delete sources', await measure(server.url, remove, auth, doomed.length));
    await server.stop();
    const floor = await startFloor(me.id, `${load[0]!.id}/`);
    try {
      const page: Request = (n) => {
        const cursor = cursors[n % 3] ?? '';
        return { method: 'GET', path: `/sources${cursor === '' ? '' : `?after=${idOf(cursor)}`}` };
      };
      told('floor: list', await measure(floor.url, page));
      told('floor: summaries', await measure(floor.url, () => ({ method: 'GET', path: '/summaries' })));
      told('floor: append', await measure(floor.url, () => ({ method: 'POST', path: '/append' })));
    } finally {
      floor.child.kill();
      await once(floor.child, 'exit');
    }
  }
} finally {
  await api.close();
  await server.close();
}
