import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { receivedOf } from '#test/faults/kill9-checks.js';
import { ApiClient, endpointOf, type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { Deployment, type RoleName } from '#test/harness/deployment.js';
import { send } from '#test/harness/http.js';
import { ROOT } from '#test/harness/paths.js';
import { eventually } from '#test/harness/wait.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';

const AHEAD_MS = 90_000;
const EARLY_MS = 1_000;
/** 2 s, plus the possible delay of a busy machine. The wall clocks are off by nine times as much. */
const LATE_MS = 10_000;

/** Emits events that are due so many milliseconds from now, each with its time. */
const DELAYING = componentCode({
  members: `run({ body }) {
    for (const ms of body) this.$emit({ due: Date.now() + ms }, { delivery_ts: Date.now() + ms });
  },`,
});
const TICKING = componentCode({
  props: `timer: { type: '$.interface.timer', default: { intervalSeconds: 15 } }`,
  members: `run(event) { this.$emit({ due: event.timestamp * 1000 }); },`,
});

interface Due {
  readonly due: number;
}

// docs/reference/delivery.md#one-clock
describe.each<{ readonly title: string; readonly ahead: readonly RoleName[] }>([
  { title: 'what sets times', ahead: ['command-api', 'runner', 'router', 'ingress'] },
  { title: 'what compares them', ahead: ['scheduler', 'webhook-worker', 'projector', 'query-api'] },
])('with half of the roles 90 s ahead, $title', ({ ahead }) => {
  let deployment: Deployment;
  let api: ApiClient;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    deployment = new Deployment();
    for (const role of ahead) {
      for (const server of deployment.processes[role]) {
        server.setting('NODE_OPTIONS', `--import ${join(ROOT, 'test/harness/skewed-clock.mjs')}`);
        server.setting('TEST_CLOCK_AHEAD_MS', String(AHEAD_MS));
      }
    }
    api = new ApiClient(deployment);
    await deployment.start();
  }, 180_000);

  afterAll(async () => {
    await api.close();
    await deployment.close();
    await receiver.close();
  }, 120_000);

  afterEach(() => {
    receiver.clear();
    receiver.behave(() => ({}));
  });

  const deploy = async (code: string): Promise<Source> => {
    const source = await api.createSource({ component_code: code });
    const webhook = await api.createWebhook(receiver.url);
    receiver.trust(webhook.signing_key);
    await api.subscribe(source.id, webhook.id);
    return source;
  };
  const lateness = (source: Source): number[] =>
    receivedOf(receiver, source).map(({ at, body }) => at - (body as Due).due);
  const expectInTime = (late: readonly number[]): void => {
    expect(late.filter((ms) => ms < -EARLY_MS)).toEqual([]);
    expect(late.filter((ms) => ms > LATE_MS)).toEqual([]);
  };

  it('brings delayed events in time, also when their wall clocks are set while they run', async () => {
    const source = await deploy(DELAYING);
    const body = Array.from({ length: 10 }, (_, n) => 4_000 + 1_500 * n);
    expect((await send(endpointOf(deployment, source), { body })).status).toBe(200);
    await receiver.until('the first delayed events', () => lateness(source).length >= 3, 60_000);
    // Half of them are right from here on, and those that were ahead are set back by 90 s.
    for (const role of ahead) for (const { pid } of deployment.processes[role]) process.kill(pid, 'SIGUSR2');
    await receiver.until('all delayed events', () => lateness(source).length === body.length, 90_000);
    for (const role of ahead) for (const { pid } of deployment.processes[role]) process.kill(pid, 'SIGUSR2');
    expectInTime(lateness(source));
  }, 200_000);

  it('ticks in time', async () => {
    const source = await deploy(TICKING);
    // The first comes with the deployment.
    await receiver.until('three ticks', () => lateness(source).length >= 3, 90_000);
    expectInTime(lateness(source));
    const times = receivedOf(receiver, source).map(({ body }) => (body as Due).due);
    expect(new Set(times).size).toBe(times.length);
    await api.deleteSource(source.id);
  }, 150_000);

  it('retries after the pause', async () => {
    const failed = new Set<string>();
    receiver.behave((_n, { webhookId }) => {
      if (failed.has(webhookId)) return {};
      failed.add(webhookId);
      return { status: 503 };
    });
    const source = await deploy(DELAYING);
    expect((await send(endpointOf(deployment, source), { body: [0, 0, 0] })).status).toBe(200);
    await receiver.until('three retries', () => receiver.accepted.length >= 3, 90_000);
    for (const id of failed) {
      const [first, second] = receiver.received.filter(({ webhookId }) => webhookId === id);
      const pauseMs = (second?.at ?? 0) - (first?.at ?? 0);
      expect(pauseMs).toBeGreaterThan(4_000 - EARLY_MS);
      expect(pauseMs).toBeLessThan(6_000 + LATE_MS);
    }
  }, 150_000);

  it('tells the operator which wall clocks are off', async () => {
    for (const [role, [server]] of Object.entries(deployment.processes)) {
      if (!server) throw new Error(`no ${role}`);
      const isAhead = ahead.includes(role as RoleName);
      const client = new ApiClient({ url: server.url, apiKey: '' });
      try {
        const checks = await eventually(`checks of ${role}`, async () => {
          const reply = await client.call<{ checks: Record<string, string> }>('GET', '/readyz', { key: null });
          return reply.status === 200 ? reply.body.checks : undefined;
        });
        expect(checks['clock']).toMatch(isAhead ? /^the wall clock is (89|90|91)\.\d s ahead of/ : /^ok$/);
        const { text } = await client.call('GET', '/metrics', { key: null });
        const [, seconds] = /^sluice_clock_skew_seconds (\S+)$/m.exec(text) ?? [];
        expect(Math.abs(Number(seconds) - (isAhead ? AHEAD_MS / 1_000 : 0))).toBeLessThan(2);
      } finally {
        await client.close();
      }
      if (isAhead) expect(server.lastOutput).toContain('clock.skewed');
      else expect(server.lastOutput).not.toContain('clock.skewed');
    }
  }, 60_000);
});
