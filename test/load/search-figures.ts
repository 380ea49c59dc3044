import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { DEFAULT_EVENT_SETTINGS, eventSummariesProjection } from '#libs/events/index.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';
import { type ApiClient, type Data, endpointOf, type Source } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { withStopped } from '#test/harness/move-scene.js';
import { newHistogram, quantilesMs } from './latencies.js';
import { openSluice } from './targets.js';

const BATCH = 1_000;
/** As many events as one channel keeps. */
const OF_EMITTER = 100;
const ASKED = 100;
const REQUESTS = 1_000;
const EVERY_MS = 5;

interface Me {
  readonly orgs: readonly { readonly id: string }[];
}

/** Fills the events of a stopped server, and times searches in them, and an endpoint beside them. All times in ms. */
export const searchFigures = async (count: number): Promise<Readonly<Record<string, unknown>>> => {
  const installation = await openSluice({ readyTimeoutMs: 300_000, env: { SLUICE_API_RATE: '1000000' } });
  const { server, api, restart } = installation;
  try {
    const { data: me } = await api.expect<Data<Me>>(200, 'GET', '/v1/users/me');
    const workspace = me.orgs[0]?.id ?? '';
    const { data: source } = await api.expect<Data<Source>>(200, 'POST', '/v1/sources', {
      body: { component_code: relayCode() },
    });
    await server.stop();
    await withStopped(server.dataDir, async ({ readModels }) => {
      const projection = eventSummariesProjection(DEFAULT_EVENT_SETTINGS);
      const { active: generation, checkpoint } = await readModels.register(projection.schema);
      for (let from = 0; from < count; from += BATCH) {
        const docs = Array.from({ length: Math.min(BATCH, count - from) }, (_, n) =>
          docOf(projection, workspace, from + n),
        );
        const writes = docs.flat().map((doc) => ({ op: 'put', doc }) as const);
        await readModels.apply({
          schema: projection.schema,
          generation,
          expected: checkpoint,
          next: checkpoint,
          writes,
        });
      }
    });
    await restart();
    const path = `/v1/workspaces/${workspace}/event_summaries`;
    const endpoint = endpointOf(server, source);
    const alone = await endpointTimes(endpoint);
    const searching = { ended: false };
    const searches = searchOn(api, path, searching);
    const beside = await endpointTimes(endpoint);
    searching.ended = true;
    // One search of a user runs at once.
    const searchesBeside = await searches;
    return {
      events: count,
      'q: each thousandth': await timesOf(api, path, { q: 'customer7.' }),
      'q: none, 20,000 events': await timesOf(api, path, { q: 'nobody' }),
      'newest 20': await timesOf(api, path, {}),
      endpoint: alone,
      'endpoint beside searches': beside,
      searches: searchesBeside,
    };
  } finally {
    await installation.close();
  }
};

type Summaries = ReturnType<typeof eventSummariesProjection>;

/** An event of 1 KB, as the projector stores it. */
const docOf = (projection: Summaries, workspace: string, n: number): readonly Doc[] => {
  const emitter = `dc_${String(Math.floor(n / OF_EMITTER)).padStart(18, '0')}`;
  const order = { n, customer: `customer${n % 1_000}.`, note: 'x'.repeat(950) };
  const interpreted = projection.interpret({
    topic: '',
    key: emitter,
    headers: {
      kind: 'emit',
      id: `${1_700_000_000_000 + n}-0`,
      emitter,
      workspace,
      channel: '',
      emit: `emit-${n}`,
      hops: '0',
    },
    value: JSON.stringify(order),
    lane: '',
    offset: n,
    timestamp: 0,
    size: 0,
  } satisfies StoredRecord);
  return interpreted?.kind === 'put' ? interpreted.docs : [];
};

const timesOf = async (api: ApiClient, path: string, query: Readonly<Record<string, string>>): Promise<object> => {
  const times = newHistogram();
  for (let n = 0; n < ASKED; n++) {
    const began = performance.now();
    await api.expect(200, 'GET', path, { query: { limit: '20', ...query } });
    times.recordValue(Math.max(1, Math.round((performance.now() - began) * 1_000)));
  }
  const { p50, p99, max } = quantilesMs(times);
  return { p50, p99, max };
};

/** Searches one after another for what is not there. Resolves with their number. */
const searchOn = async (api: ApiClient, path: string, searching: { readonly ended: boolean }): Promise<number> => {
  let searches = 0;
  for (; !searching.ended; searches++) await api.expect(200, 'GET', path, { query: { q: 'nobody' } });
  return searches;
};

/** Posts at an even rate, however long answers take. */
const endpointTimes = async (url: string): Promise<object> => {
  const times = newHistogram();
  const dispatcher = new Agent({ connections: 64 });
  const answers: Promise<void>[] = [];
  const post = async (): Promise<void> => {
    const began = performance.now();
    const { body } = await request(url, { method: 'POST', dispatcher, body: '{"n":1}' });
    await body.dump();
    times.recordValue(Math.max(1, Math.round((performance.now() - began) * 1_000)));
  };
  for (let n = 0; n < REQUESTS; n++) {
    answers.push(post());
    await pause(EVERY_MS);
  }
  await Promise.all(answers);
  await dispatcher.close();
  const { p50, p99, max } = quantilesMs(times);
  return { p50, p99, max };
};
