import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { ApiClient, endpointOf, type Source } from '#test/harness/api-client.js';
import { type TestServer } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { randomOf } from './random.js';

/** An installation whose processes the test kills while thousands of invocations are queued for one listener. */
export interface QueuedTarget {
  readonly server: TestServer;
  /** Kills, makes the router begin every lane again, which is the most that it may repeat, and starts again. */
  killAndRepeat(emitterIds: readonly string[]): Promise<void>;
}

export interface QueuedOptions {
  readonly rounds: number;
  readonly emitters: number;
  /** Events of each emitter. */
  readonly queued: number;
  /** The same seed gives the same kill times. */
  readonly seed: number;
  readonly say: (line: string) => void;
}

export interface QueuedReport {
  /** Runs of the listener and of the listener's listener, without those that ask. */
  readonly runs: readonly number[];
  /** Empty when each event was run once, and told under one id. */
  readonly problems: readonly string[];
}

/** Emits a row of ids. */
const FAN = `export default {
  name: 'Queued fan', key: 'queued-fan', version: '1',
  props: { http: '$.interface.http' },
  run(event) {
    const { from, count } = event.body;
    for (let n = 0; n < count; n++) this.$emit({ id: from + n });
  },
};`;

/** Ids from here on ask what was run so far. */
const ASK = 1_000_000_000;

/** Counts its runs, passes every id on, and tells the count when asked. The db makes its runs serial. */
const COUNT = `export default {
  name: 'Queued count', key: 'queued-count', version: '1',
  props: { db: '$.service.db' },
  run({ id }) {
    const { runs, sum } = this.db.get('so far') ?? { runs: 0, sum: 0 };
    if (id < ${ASK}) this.db.set('so far', { runs: runs + 1, sum: sum + id });
    this.$emit({ id });
    if (id >= ${ASK}) this.$emit({ id, runs, sum }, { name: 'told' });
  },
};`;

interface Told {
  readonly id: number;
  readonly runs: number;
  readonly sum: number;
}

const PER_REQUEST = 100;
const SHORTEST_MS = 200;
const LONGEST_MS = 2_500;
const TOLD_TIMEOUT_MS = 480_000;

/**
 * Queues the events of several emitters for one listener, kills again and again while they are run, and makes the router
 * send all of them again each time. Each event must be run once, by the listener and by the listener's listener.
 */
export const runQueuedRepeats = async (target: QueuedTarget, options: QueuedOptions): Promise<QueuedReport> => {
  const { server } = target;
  const api = new ApiClient(server);
  const receiver = await WebhookReceiver.start();
  try {
    await server.start();
    return await queueAndKill(target, options, api, receiver);
  } catch (error) {
    throw new Error(`queued rounds failed; last output of the server:\n${server.lastOutput.slice(-4_000)}`, {
      cause: error,
    });
  } finally {
    await api.close();
    await server.close();
    await receiver.close();
  }
};

const queueAndKill = async (
  target: QueuedTarget,
  { rounds, emitters: count, queued, seed, say }: QueuedOptions,
  api: ApiClient,
  receiver: WebhookReceiver,
): Promise<QueuedReport> => {
  const { server } = target;
  const webhook = await api.createWebhook(receiver.url);
  receiver.trust(webhook.signing_key);
  const listener = await api.createSource({ component_code: COUNT });
  const last = await api.createSource({ component_code: COUNT });
  for (const { id } of [listener, last]) await api.subscribe(id, webhook.id, 'told');
  await api.subscribe(listener.id, last.id);
  const emitters: Source[] = [];
  for (let n = 0; n < count; n++) {
    const emitter = await api.createSource({ component_code: FAN });
    await api.subscribe(emitter.id, listener.id);
    emitters.push(emitter);
  }
  const fan = (emitter: Source, from: number, many: number): Promise<void> =>
    posted(server, emitter, { from, count: many });
  await Promise.all(
    emitters.map(async (emitter, n) => {
      for (let from = 0; from < queued; from += PER_REQUEST) {
        await fan(emitter, n * queued + from, Math.min(PER_REQUEST, queued - from));
      }
    }),
  );
  say(`${count} x ${queued} events are stored`);
  const random = randomOf(seed);
  for (let round = 1; round <= rounds; round++) {
    await pause(SHORTEST_MS + random() * (LONGEST_MS - SHORTEST_MS));
    await target.killAndRepeat([...emitters, listener].map(({ id }) => id));
    say(`round ${round}: up again`);
  }
  // Behind all others in the lane of its emitter, so the answers tell of all runs.
  for (const [n, emitter] of emitters.entries()) await fan(emitter, ASK + n, 1);
  const toldOf = (source: Source): readonly Told[] =>
    receiver.accepted.filter(({ emitterId }) => emitterId === source.id).map(({ body }) => body as Told);
  await eventually(
    'the listeners have told their runs',
    () =>
      [listener, last].every((source) => new Set(toldOf(source).map(({ id }) => id)).size === count) ? true : undefined,
    TOLD_TIMEOUT_MS,
    100,
  );
  const most = [listener, last].map((source) => toldOf(source).reduce((a, b) => (a.runs >= b.runs ? a : b)));
  const expected = { runs: count * queued, sum: (count * queued * (count * queued - 1)) / 2 };
  const problems = most.flatMap(({ runs, sum }, n) =>
    runs === expected.runs && sum === expected.sum
      ? []
      : [`hop ${n + 1}: ${runs} runs with the sum ${sum} of ids, not ${expected.runs} with ${expected.sum}`],
  );
  return { runs: most.map(({ runs }) => runs), problems: [...problems, ...toldTwice(receiver)] };
};

const toldTwice = ({ accepted }: WebhookReceiver): string[] => {
  const ids = new Map<string, Set<string>>();
  for (const { emitterId, emitId, webhookId, body } of accepted) {
    const key = `${emitterId} ${(body as Told).id}`;
    ids.set(key, (ids.get(key) ?? new Set()).add(`${emitId} as ${webhookId}`));
  }
  return [...ids]
    .filter(([, known]) => known.size > 1)
    .map(([key, known]) => `${key}: told as ${[...known].join(', ')}`);
};

/** Resolves once the event is acknowledged. Only back-pressure is tried again, as an unanswered event may be stored. */
const posted = async (server: TestServer, source: Source, body: object): Promise<void> => {
  for (;;) {
    const reply = await request(endpointOf(server, source), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await reply.body.dump();
    if (reply.statusCode === 200) return;
    if (reply.statusCode !== 503 && reply.statusCode !== 429) {
      throw new Error(`an event for ${source.name} was answered ${reply.statusCode}`);
    }
    await pause(100);
  }
};
