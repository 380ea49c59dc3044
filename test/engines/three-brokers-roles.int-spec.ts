import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type EngineServers, startEngineServers } from '#test/faults/engine-servers.js';
import { ApiClient, endpointOf, type Source, type Webhook } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { Deployment } from '#test/harness/deployment.js';
import { send } from '#test/harness/http.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { type KafkaCluster } from './kafka-cluster.js';
import { KafkaPartitions, until } from './kafka-partitions.js';

/**
 * Every role as a process on three brokers. After each fault a caller gets its response, a hook answers, and a webhook
 * gets the event, at the first try and within the product's own limits: 30 s for a response and for a command.
 */

const PATIENCE_MS = 600_000;
const DELIVERED_MS = 60_000;

/** Answers, emits, and notes its hooks. */
const RESPONDER = componentCode({
  props: `${CUSTOM_HTTP}, db: '$.service.db'`,
  members: `
    methods: { count(name) { this.db.set(name, (this.db.get(name) ?? 0) + 1); } },
    hooks: {
      activate() { this.count('activated'); },
      deactivate() { this.count('deactivated'); },
    },
    run(event) {
      const { n } = event.body;
      this.http.respond({ status: 201, body: [n, this.db.get('activated'), this.db.get('deactivated') ?? 0] });
      this.$emit({ n });
    },`,
});

let servers: EngineServers;
let cluster: KafkaCluster;
let partitions: KafkaPartitions;
let deployment: Deployment;
let api: ApiClient;
let receiver: WebhookReceiver;
let away: WebhookReceiver;
let source: Source;
let webhook: Webhook;
let awayWebhook: Webhook;
let round = 0;

const topic = (name: string): string => `${deployment.common['SLUICE_PREFIX'] ?? ''}.${name}`;
const lanes = (): readonly string[] =>
  [`invocations.${source.id}`, `emits.${source.id}`, `deliveries.${webhook.id}`, 'attempts'].map(topic);

beforeAll(async () => {
  servers = await startEngineServers(true);
  if (!servers.cluster) throw new Error('no cluster');
  cluster = servers.cluster;
  partitions = await KafkaPartitions.open(cluster.addresses);
  deployment = new Deployment({ engines: servers.addresses, env: { SLUICE_KAFKA_REPLICATION: '3' } });
  api = new ApiClient(deployment);
  [receiver, away] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
  await deployment.start();
  [webhook, awayWebhook] = [await api.createWebhook(receiver.url), await api.createWebhook(away.url)];
  source = await api.createSource({ component_code: RESPONDER });
  await api.subscribe(source.id, webhook.id);
  await everythingAnswers();
}, PATIENCE_MS);
afterAll(async () => {
  try {
    await partitions?.close();
    await api?.close();
    await deployment?.close();
  } finally {
    await receiver?.close();
    await away?.close();
    await servers?.stop();
  }
}, PATIENCE_MS);
/** A test that failed leaves brokers that were ended. */
afterEach(async () => {
  for (const broker of cluster.brokers) await broker.ensureRunning();
}, PATIENCE_MS);

const numbersAt = ({ accepted }: WebhookReceiver): number[] => accepted.map(({ body }) => (body as { n: number }).n);

const everythingAnswers = async (): Promise<void> => {
  const n = round++;
  const reply = await send(endpointOf(deployment, source), { body: { n } });
  expect([reply.status, JSON.parse(reply.text)]).toEqual([201, [n, n + 1, n]]);
  for (const active of [false, true]) {
    const { status, body } = await api.call('PUT', `/v1/sources/${source.id}`, { body: { active } });
    expect([status, status === 200 ? '' : body]).toEqual([200, '']);
  }
  await receiver.until(`event ${n} at the webhook`, (at) => numbersAt(at).includes(n), DELIVERED_MS);
};

describe('roles on three brokers answer callers, run hooks and deliver', () => {
  it(
    'while the brokers are restarted one after the other',
    async () => {
      for (const broker of cluster.brokers) {
        await broker.shutDown();
        await everythingAnswers();
        await broker.start();
        await everythingAnswers();
        await partitions.allInSync(lanes());
      }
    },
    PATIENCE_MS,
  );

  it(
    'after the leader of a source was killed, with fewer copies, and after it leads again',
    async () => {
      const lane = topic(`invocations.${source.id}`);
      const { leader, replicas } = await partitions.of(lane);
      await cluster.node(leader).kill9();
      await everythingAnswers();
      await until('fewer copies in sync', async () => (await partitions.of(lane)).isr.length === 2);
      await everythingAnswers();
      await cluster.node(leader).start();
      await partitions.allInSync(lanes());
      await until('the preferred leader', async () => (await partitions.leaderOf(lane)) === replicas[0]);
      await everythingAnswers();
    },
    PATIENCE_MS,
  );

  it(
    'after the coordinators of the groups were killed in turn',
    async () => {
      for (const group of ['runner', 'router', 'webhook-worker']) {
        const coordinator = cluster.node(await partitions.coordinatorOf(topic(group)));
        await coordinator.kill9();
        await everythingAnswers();
        await coordinator.start();
        await partitions.allInSync(lanes());
      }
      await everythingAnswers();
    },
    PATIENCE_MS,
  );

  it(
    'while another listener of the source has a lane without a leader, which gets its events once it has one',
    async () => {
      await api.subscribe(source.id, awayWebhook.id);
      const lane = topic(`deliveries.${awayWebhook.id}`);
      const home = ((await partitions.leaderOf(topic(`invocations.${source.id}`))) % 3) + 1;
      await partitions.admin.alterConfigs({
        validateOnly: false,
        resources: [{ type: 2, name: lane, configEntries: [{ name: 'min.insync.replicas', value: '1' }] }],
      });
      await partitions.reassign(lane, [home]);
      await cluster.node(home).kill9();
      await until('no leader', async () => (await partitions.leaderOf(lane)) < 0);
      const first = round;
      for (let n = 0; n < 4; n++) await everythingAnswers();
      expect(numbersAt(away).filter((n) => n >= first)).toEqual([]);
      await cluster.node(home).start();
      const expected = [0, 1, 2, 3].map((n) => first + n);
      await away.until('its events', (at) => expected.every((n) => numbersAt(at).includes(n)), DELIVERED_MS);
      await everythingAnswers();
      // The outage of one listener repeats nothing at another.
      expect(numbersAt(receiver).filter((n) => n >= first)).toEqual([...expected, first + 4]);
    },
    PATIENCE_MS,
  );
});
