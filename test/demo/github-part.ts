import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { request } from 'undici';
import { endpointOf, type ApiClient, type Source } from '#test/harness/api-client.js';
import { example } from '#test/harness/paths.js';
import { type TestServer } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { type WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { githubRequest, type GithubDelivery } from './github-payloads.js';

export interface GithubFigures {
  readonly payloads: number;
  /** Requests posted with a good signature, repeats included. */
  readonly sent: number;
  readonly repeats: number;
  /** Number of requests posted with a wrong signature, and of those answered 401. */
  readonly forged: number;
  readonly refused: number;
  /** Distinct events in the source's history. */
  readonly emitted: number;
  readonly deduped: number;
  readonly delivered: number;
  readonly lost: number;
  readonly duplicates: number;
  readonly badSignatures: number;
  /** Number of deliveries whose payload differs from the posted one. */
  readonly altered: number;
}

const SECRET = 'a secret that only GitHub and the source know';
/** Far below 100, the number of ids that `unique` remembers and of events that a history keeps. */
const BATCH = 50;
const REPEAT_EVERY = 4;
const FORGED = 5;
const PARALLEL = 5;

export interface Stage {
  readonly server: TestServer;
  readonly api: ApiClient;
  readonly receiver: WebhookReceiver;
}

/** Deploys the GitHub source, subscribes the receiver, and posts every payload; every fourth one twice. */
export const runGithubPart = async (
  { server, api, receiver }: Stage,
  deliveries: readonly GithubDelivery[],
): Promise<GithubFigures> => {
  // 1. Deploy and subscribe.
  const code = await readFile(example('github-webhook', 'component.mjs'), 'utf8');
  const source = await api.createSource({ component_code: code, configured_props: { secret: SECRET } });
  const webhook = await api.createWebhook(receiver.url, 'GitHub events');
  receiver.trust(webhook.signing_key);
  await api.subscribe(source.id, webhook.id);

  // 2. Post batch by batch: the new payloads, and again some of the earlier ones.
  const url = endpointOf(server, source);
  const emitted = new Set<string>();
  let sent = 0;
  let repeats = 0;
  for (let at = 0; at < deliveries.length; at += BATCH) {
    const batch = deliveries.slice(at, at + BATCH);
    const again = batch.filter((_, index) => index % REPEAT_EVERY === 0);
    await postAll(url, [...batch, ...again]);
    sent += batch.length + again.length;
    repeats += again.length;
    // 3. Read the history before it outgrows the 100 events that it keeps.
    await readHistory(api, source, batch, emitted);
  }
  const refused = await postForged(url, deliveries.slice(0, FORGED));

  // 4. Wait until everything that was emitted has arrived.
  const mine = (): readonly string[] =>
    receiver.accepted.filter(({ emitterId }) => emitterId === source.id).map(({ webhookId }) => webhookId);
  await receiver.until(`${emitted.size} deliveries`, () => new Set(mine()).size >= emitted.size, 60_000);
  const delivered = new Set(mine()).size;
  return {
    payloads: deliveries.length,
    sent,
    repeats,
    forged: Math.min(FORGED, deliveries.length),
    refused,
    emitted: emitted.size,
    deduped: sent - emitted.size,
    delivered,
    lost: emitted.size - delivered,
    duplicates: mine().length - delivered,
    badSignatures: receiver.unsigned,
    altered: alteredOf(receiver, source, deliveries),
  };
};

const post = async (url: string, delivery: GithubDelivery, secret: string): Promise<number> => {
  const { body, headers } = githubRequest(delivery, secret);
  const reply = await request(url, { method: 'POST', headers, body });
  await reply.body.dump();
  return reply.statusCode;
};

/** Posts in order, a few at a time. */
const postAll = async (url: string, deliveries: readonly GithubDelivery[]): Promise<void> => {
  const queue = [...deliveries];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const status = await post(url, next, SECRET);
      if (status !== 200) throw new Error(`delivery ${next.id} (${next.kind}) was answered ${status}, expected 200`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
};

const postForged = async (url: string, deliveries: readonly GithubDelivery[]): Promise<number> => {
  let refused = 0;
  for (const delivery of deliveries) {
    if ((await post(url, { ...delivery, id: `forged-${delivery.id}` }, 'another secret')) === 401) refused++;
  }
  return refused;
};

const readHistory = async (
  api: ApiClient,
  source: Source,
  batch: readonly GithubDelivery[],
  emitted: Set<string>,
): Promise<void> => {
  await eventually(`${batch.length} deliveries in the history of ${source.id}`, async () => {
    const { data } = await api.summaries(source.id);
    data.forEach(({ id }) => emitted.add(id));
    const ids = new Set(data.map(({ metadata }) => metadata.id));
    return batch.every(({ id }) => ids.has(id)) ? true : undefined;
  });
};

const alteredOf = (receiver: WebhookReceiver, source: Source, deliveries: readonly GithubDelivery[]): number => {
  const posted = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  return receiver.accepted.filter(({ emitterId, body }) => {
    if (emitterId !== source.id) return false;
    const { delivery = '', event, payload } = body as { delivery?: string; event?: string; payload?: unknown };
    const original = posted.get(delivery);
    return original?.kind !== event || !isDeepStrictEqual(original?.payload, payload);
  }).length;
};
