/**
 * `npm run bench:neighbour`: measures how four hostile sources of one workspace affect the latency of a neighbour in
 * another. It sends the neighbour one event at a time and measures until its arrival at a webhook, first alone, then
 * under attack. Prints both p99 and their ratio.
 */
import { ApiClient, endpointOf } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { attack, deployHostile } from '#test/harness/hostile-sources.js';
import { send as post } from '#test/harness/http.js';
import { addWorkspace } from '#test/harness/second-workspace.js';
import { Server } from '#test/harness/server.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { newHistogram, quantilesMs } from './latencies.js';
import { type Quantiles } from './parts.js';

const SECONDS = Number(process.argv[2] ?? '30');
/** Below the default rate of an endpoint, which applies to the neighbour too. */
const GAP_MS = 120;
/** Rate to each hostile source, a little above the default limit of its endpoint. */
const POSTS_PER_SECOND = 12;
const WARM_UP = 40;

const measure = async (send: (n: number) => Promise<void>, count: number, first: number): Promise<Quantiles> => {
  const histogram = newHistogram();
  for (let n = first; n < first + count; n++) {
    const sentAt = performance.now();
    await send(n);
    histogram.recordValue(Math.max(1, Math.round((performance.now() - sentAt) * 1_000)));
    await new Promise((resolve) => setTimeout(resolve, GAP_MS));
  }
  return quantilesMs(histogram);
};

const run = async (): Promise<void> => {
  const server = new Server({ env: { SLUICE_ENDPOINT_RATE: '10', SLUICE_LOG_LEVEL: 'warn' } });
  await server.start();
  const receiver = await WebhookReceiver.start();
  const api = new ApiClient(server);
  const hanging = await WebhookReceiver.start();
  hanging.behave(() => ({ until: new Promise(() => undefined) }));
  const { api: stranger } = await addWorkspace({ server }, 'mallory');
  try {
    const neighbour = await api.createSource({ component_code: relayCode() });
    const { id: webhookId } = await api.createWebhook(receiver.url);
    await api.subscribe(neighbour.id, webhookId);
    const url = endpointOf(server, neighbour);
    const seen = new Set<number>();
    const send = async (n: number): Promise<void> => {
      const { status } = await post(url, { body: { n } });
      if (status !== 200) throw new Error(`the neighbour was answered ${status}`);
      await receiver.until(`event ${n}`, ({ accepted }) => {
        const last = accepted.at(-1);
        if (last?.headers['x-pd-webhook-id'] === webhookId) seen.add((last.body as { n: number }).n);
        return seen.has(n);
      });
    };
    const count = Math.max(100, Math.round((SECONDS * 1_000) / GAP_MS));
    await measure(send, WARM_UP, 0);
    const idle = await measure(send, count, WARM_UP);
    const attacking = attack(server, await deployHostile(stranger, hanging.url), POSTS_PER_SECOND);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const attacked = await measure(send, count, WARM_UP + count);
    await attacking.stop();
    const answers = Object.entries(attacking.answers).map(([name, { statuses }]) => [name, statuses] as const);
    const ratio = Number((attacked.p99 / idle.p99).toFixed(2));
    process.stdout.write(`${JSON.stringify({ count, idle, attacked, ratio, answers: Object.fromEntries(answers) })}\n`);
  } finally {
    await stranger.close();
    await hanging.close();
    await api.close();
    await server.close();
    await receiver.close();
  }
};

await run();
