import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { endpointOf, ApiClient, type Data, type Source, type Webhook } from '#test/harness/api-client.js';
import { emitterCode } from '#test/harness/component-code.js';
import { Deployment } from '#test/harness/deployment.js';
import { send } from '#test/harness/http.js';
import { type Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';

/** Events of one round. The first is refused once, so that it waits for its second attempt. */
const EVENTS = 30;
/** Longer than the pause before the second attempt. */
const DEAD_MS = 8_000;

let deployment: Deployment;
let api: ApiClient;
let receiver: WebhookReceiver;
let source: Source;
let webhook: Webhook;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  deployment = new Deployment();
  api = new ApiClient(deployment);
  await deployment.start();
  source = await api.createSource({ component_code: emitterCode() });
  const query = { url: receiver.url, ordered: 'true' };
  webhook = (await api.call<Data<Webhook>>('POST', '/v1/webhooks', { query })).body.data;
  receiver.trust(webhook.signing_key);
  await api.subscribe(source.id, webhook.id);
}, 400_000);
afterAll(async () => {
  await api.close();
  await deployment.close();
  await receiver.close();
}, 120_000);

const worker = (): Server => {
  const [only] = deployment.processes['webhook-worker'];
  if (!only) throw new Error('there is no webhook-worker');
  return only;
};
const numberOf = ({ body }: { readonly body: unknown }): number => (body as { n: number }).n;
const numbers = (): readonly number[] => receiver.received.map(numberOf);
const post = async (from: number, count: number): Promise<void> => {
  for (let n = from; n < from + count; n++) {
    await eventually(`event ${n} is acknowledged`, async () => {
      const { status } = await send(endpointOf(deployment, source), { body: [[{ n }, {}]] });
      return status === 200 || undefined;
    });
  }
};

const attemptsKept = async (): Promise<number> => {
  const reply = await api.call<Data<readonly unknown[]>>('GET', `/v1/webhooks/${webhook.id}/deliveries`);
  return reply.status === 200 ? reply.body.data.length : 0;
};

// docs/reference/delivery.md#ordered
describe('an ordered webhook', () => {
  it.each([
    ['while its first event is refused', false],
    ['once that event waits, until its second attempt is due', true],
  ])(
    'lets no newer event pass when its worker is killed %s',
    async (_title, waits) => {
      receiver.clear();
      const known = await attemptsKept();
      const isFirst = (request: { readonly body: unknown }): boolean => numberOf(request) === 1;
      receiver.behave((_n, request) => ({ status: isFirst(request) && request.attempt === 1 ? 503 : 200 }));
      await post(1, 1);
      await receiver.until('the first attempt', () => numbers().length > 0, 60_000);
      if (waits)
        await eventually('its outcome is kept', async () => (await attemptsKept()) > known || undefined, 60_000);
      await worker().kill9();
      await post(2, EVENTS - 1);
      if (waits) await pause(DEAD_MS);
      await worker().start();
      await receiver.until('all events', () => new Set(receiver.accepted.map(numberOf)).size === EVENTS, 120_000);
      expect([...new Set(receiver.accepted.map(numberOf))]).toEqual(
        Array.from({ length: EVENTS }, (_each, n) => n + 1),
      );
      const firstOfOthers = receiver.received.findIndex((request) => !isFirst(request));
      const firstAccepted = receiver.received.findIndex((request) => isFirst(request) && request.status === 200);
      expect(firstAccepted).toBeLessThan(firstOfOthers);
    },
    300_000,
  );
});
