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
  /** Runs of the listener and of the listener's listener, without those that ask and those that failed. */
  readonly runs: readonly number[];
  /** Runs that failed because a loaded machine could not start their process in time. */
  readonly failed: number;
  /** Empty when each event was run once, and reported under one id. */
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

/** Events with ids from here on request the number of runs so far. */
const ASK = 1_000_000_000;

/** Counts its runs, passes every id on, and reports the count on request. The db makes its runs serial. */
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
  for (const { id } of [listener, last]) {
    for (const channel of ['told', '$errors']) await api.subscribe(id, webhook.id, channel);
  }
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
  // Last in the lane of its emitter, so the answers cover all runs.
  for (const [n, emitter] of emitters.entries()) await fan(emitter, ASK + n, 1);
  const asked = new Set(emitters.map((_, n) => ASK + n));
  await eventually(
    'the listeners have told their runs',
    () => ([listener, last].every((source) => answersOf(receiver, source, asked)) ? true : undefined),
    TOLD_TIMEOUT_MS,
    100,
  );
  const all = count * queued;
  const first = sumsOf(receiver, listener);
  const second = sumsOf(receiver, last);
  const problems = [
    ...difference('the listener', first, { runs: all, sum: (all * (all - 1)) / 2 }),
    ...difference('the listener’s listener', second, { runs: first.runs, sum: first.sum }),
    ...toldTwice(receiver),
  ];
  return { runs: [first.runs, second.runs], failed: first.failed + second.failed, problems };
};

const bodiesOf = <T>({ accepted }: WebhookReceiver, source: Source, channel: string): readonly T[] =>
  accepted.filter((one) => one.emitterId === source.id && one.channel === channel).map(({ body }) => body as T);

interface Failed {
  readonly original_event: { readonly id: number };
}

/** Whether the source has run each of these events, which come behind all others. */
const answersOf = (receiver: WebhookReceiver, source: Source, asked: ReadonlySet<number>): boolean => {
  const told = bodiesOf<Told>(receiver, source, 'told').map(({ id }) => id);
  const failed = bodiesOf<Failed>(receiver, source, '$errors').map((error) => error.original_event.id);
  return new Set([...told, ...failed].filter((id) => asked.has(id))).size === asked.size;
};

interface Sums {
  /** Runs that were counted, and the sum of their ids. */
  readonly runs: number;
  readonly sum: number;
  /** Runs that failed because a loaded machine could not start a process in time. They count nothing. */
  readonly failed: number;
  readonly failedSum: number;
}

const sumsOf = (receiver: WebhookReceiver, source: Source): Sums => {
  const none = { id: 0, runs: 0, sum: 0 };
  const { runs, sum } = bodiesOf<Told>(receiver, source, 'told').reduce((a, b) => (a.runs >= b.runs ? a : b), none);
  const errors = new Map(
    receiver.accepted
      .filter((one) => one.emitterId === source.id && one.channel === '$errors')
      .map((one) => [one.webhookId, (one.body as Failed).original_event.id]),
  );
  const ids = [...errors.values()].filter((id) => id < ASK);
  return { runs, sum, failed: ids.length, failedSum: ids.reduce((total, id) => total + id, 0) };
};

const difference = (what: string, had: Sums, expected: Pick<Sums, 'runs' | 'sum'>): string[] =>
  had.runs + had.failed === expected.runs && had.sum + had.failedSum === expected.sum
    ? []
    : [`${what} has ${JSON.stringify(had)}, not ${JSON.stringify(expected)}`];

const toldTwice = ({ accepted }: WebhookReceiver): string[] => {
  const ids = new Map<string, Set<string>>();
  for (const { channel, emitterId, emitId, webhookId, body } of accepted) {
    if (channel !== 'told') continue;
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
