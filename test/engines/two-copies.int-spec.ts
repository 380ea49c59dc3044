import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { projections } from '#libs/composition/contexts.js';
import { counterProblems, missingOf, problemsOf, receivedOf } from '#test/faults/kill9-checks.js';
import { COUNTER, RELAY, START, TICKER } from '#test/faults/kill9-components.js';
import { emptyLedger, Gate, KillLoad } from '#test/faults/kill9-load.js';
import { ApiClient, endpointOf, type Source, type Webhook } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { Deployment, ROLES, type RoleName } from '#test/harness/deployment.js';
import { jsonOf, send } from '#test/harness/http.js';
import { metricsMissingIn } from '#test/harness/shipped-metrics.js';
import { type Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { type Behaviour, WebhookReceiver } from '#test/harness/webhook-receiver.js';

/** Two processes of each role for the whole file. A test that kills one starts it again. */
const copies = Object.fromEntries(ROLES.map((role) => [role, 2])) as Record<RoleName, number>;
let deployment: Deployment;
let api: ApiClient;
let receiver: WebhookReceiver;
let webhook: Webhook;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  deployment = new Deployment({ copies });
  api = new ApiClient(deployment);
  await deployment.start();
  webhook = await createWebhook();
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

const createWebhook = async (): Promise<Webhook> => {
  const created = await api.createWebhook(receiver.url);
  receiver.trust(created.signing_key);
  return created;
};

const deploy = async (code: string): Promise<Source> => {
  const source = await api.createSource({ component_code: code });
  await api.subscribe(source.id, webhook.id);
  return source;
};

const pair = (role: RoleName): readonly [Server, Server] => {
  const [first, second] = deployment.processes[role];
  if (!first || !second) throw new Error(`there are no two processes of ${role}`);
  return [first, second];
};

/** A client of one process, which bypasses the proxy. */
const withClientOf = async <T>(server: Server, work: (client: ApiClient) => Promise<T>): Promise<T> => {
  const client = new ApiClient({ url: server.url, apiKey: deployment.apiKey });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
};

/** Reactions of a projector, and read models that one process cleans up whatever process writes them. */
const REACTIONS = 6;
const CLEANED_UP = 2;

const metricOf = (server: Server, name: string): Promise<number> =>
  withClientOf(server, async (client) => {
    const { text } = await client.call('GET', '/metrics');
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    if (line === undefined) throw new Error(`${name} is not among the metrics`);
    return Number(line.slice(name.length));
  });

const post = async (source: Source, body: unknown, target: { url: string } = deployment): Promise<number> =>
  (await send(endpointOf({ url: target.url, apiKey: '' }, source), { body })).status;

describe('the processes of all roles', () => {
  it('export what the shipped alert rules and dashboard read', async () => {
    const texts = await Promise.all(
      deployment.all.map((server) =>
        withClientOf(server, async (client) => (await client.call('GET', '/metrics')).text),
      ),
    );
    expect(metricsMissingIn(texts.join('\n'), 'servers')).toEqual([]);
  });
});

describe('two schedulers', () => {
  it('send each tick once, also when the leader is killed', async () => {
    const source = await deploy(TICKER);
    await api.runNow(source.id, { timestamp: START });
    const ticks = (): Set<number> =>
      new Set(receivedOf(receiver, source).map(({ body }) => (body as { id: number }).id));
    await receiver.until('six ticks', () => ticks().size >= 6, 60_000);

    const [first, second] = pair('scheduler');
    const armed = await Promise.all([first, second].map((each) => metricOf(each, 'sluice_timers_armed')));
    expect([...armed].sort()).toEqual([0, 15]);
    const leading = armed[0] === 15 ? first : second;
    await leading.kill9();
    const before = ticks().size;
    await receiver.until('six more ticks', () => ticks().size >= before + 6, 60_000);
    await leading.start();
    await api.deleteSource(source.id);

    expect(problemsOf(receiver, [emptyLedger(source)])).toEqual([]);
    expect(counterProblems(receiver, source)).toEqual([]);
  }, 150_000);
});

describe('two webhook workers', () => {
  it('make each attempt of a delivery once and one at a time, including retries', async () => {
    const source = await deploy(RELAY);
    for (let n = 0; n < 3; n++) await api.subscribe(source.id, (await createWebhook()).id);
    const open = new Set<string>();
    const problems: string[] = [];
    const attempts = new Set<string>();
    const slowAndHalfFailing: Behaviour = (n, { webhookId, attempt }) => {
      if (open.has(webhookId)) problems.push(`${webhookId}: attempt ${attempt} overlaps another`);
      if (attempts.has(`${webhookId}/${attempt}`)) problems.push(`${webhookId}: attempt ${attempt} twice`);
      attempts.add(`${webhookId}/${attempt}`);
      open.add(webhookId);
      const until = pause(300).then(() => void open.delete(webhookId));
      return { status: attempt === 1 && n % 2 === 0 ? 503 : 200, until };
    };
    receiver.behave(slowAndHalfFailing);
    const EVENTS = 15;
    for (let id = 1; id <= EVENTS; id++) expect(await post(source, { id })).toBe(200);
    await receiver.untilAccepted(4 * EVENTS, 90_000);
    expect(problems).toEqual([]);
    expect(receiver.duplicates).toBe(0);
    expect(receiver.received.filter(({ attempt }) => attempt === 2).length).toBeGreaterThan(5);
  }, 150_000);
});

describe('two projectors', () => {
  it('share the lanes of events and attempts, and the remaining one takes them all', async () => {
    const [first, second] = pair('projector');
    const lanes = (server: Server): Promise<number> => metricOf(server, 'sluice_projection_lanes');
    const sources = await Promise.all(Array.from({ length: 12 }, (_, n) => deploy(`${RELAY}// ${n}`)));
    let id = 0;
    const postToAll = async (): Promise<void> => {
      id++;
      for (const source of sources) expect(await post(source, { id })).toBe(200);
    };
    const allShown = (): Promise<unknown> =>
      eventually(
        `${id} events of each source are shown`,
        async () => {
          const lists = await Promise.all(sources.map((source) => api.summaries(source.id)));
          return lists.every(({ data }) => data.length === id) ? true : undefined;
        },
        60_000,
      );
    // Both write once each has seen for ten seconds that the other knows of shares.
    await eventually(
      'both write lanes',
      async () => {
        await postToAll();
        return (await lanes(first)) > 0 && (await lanes(second)) > 0 ? true : undefined;
      },
      60_000,
      1_000,
    );
    await allShown();
    await first.kill9();
    await postToAll();
    await allShown();
    expect(await lanes(second)).toBeGreaterThanOrEqual(sources.length);
    await first.start();
    await postToAll();
    await allShown();
    for (const source of sources) {
      const { data } = await api.summaries(source.id);
      expect(data.map(({ event }) => event)).toEqual(Array.from({ length: id }, (_, n) => ({ id: id - n })));
    }
  }, 240_000);

  it('own each other reader once, and the remaining one owns them all', async () => {
    const readers = projections.length + REACTIONS + CLEANED_UP;
    const source = await deploy(RELAY);
    const [first, second] = pair('projector');
    const owned = (server: Server): Promise<number> => metricOf(server, 'sluice_readers_owned');
    await eventually('all readers are owned', async () => {
      const both = (await owned(first)) + (await owned(second));
      return both === readers ? true : undefined;
    });
    await first.kill9();
    expect(await post(source, { id: 1 })).toBe(200);
    await eventually('one owns all', async () => ((await owned(second)) === readers ? true : undefined), 60_000);
    await first.start();
    expect(await post(source, { id: 2 })).toBe(200);
    const events = await eventually('both events are read', async () => {
      const { data } = await api.summaries(source.id);
      return data.length >= 2 ? data : undefined;
    });
    expect(events.map(({ event }) => event)).toEqual([{ id: 2 }, { id: 1 }]);
    expect((await owned(first)) + (await owned(second))).toBe(readers);
  }, 150_000);
});

describe('two runners', () => {
  it('take over the sources of a dead one with their db state', async () => {
    const sources = await Promise.all(Array.from({ length: 4 }, () => deploy(`${COUNTER}// ${Math.random()}`)));
    let id = 0;
    const postToAll = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n++) {
        id++;
        for (const source of sources) expect(await post(source, { id })).toBe(200);
      }
    };
    const allArrived = (): Promise<void> =>
      receiver.until(
        `${id} events of each source`,
        () => sources.every((source) => new Set(receivedOf(receiver, source).map(({ emitId }) => emitId)).size >= id),
        60_000,
      );
    await postToAll(5);
    await allArrived();
    for (const runner of pair('runner')) {
      await postToAll(3);
      await runner.kill9();
      await postToAll(3);
      await allArrived();
      await runner.start();
    }
    for (const source of sources) {
      expect(counterProblems(receiver, source)).toEqual([]);
      expect(new Set(receivedOf(receiver, source).map(({ emitId }) => emitId)).size).toBe(id);
    }
  }, 180_000);
});

const HOOKED = componentCode({
  props: `${CUSTOM_HTTP}, db: '$.service.db'`,
  members: `
    hooks: {
      deploy() { this.db.set('log', ['deploy']); },
      activate() { this.db.set('log', [...(this.db.get('log') ?? []), 'activate']); },
      deactivate() { this.db.set('log', [...(this.db.get('log') ?? []), 'deactivate']); },
    },
    run(event) {
      console.log('ran by hand: ' + (event.hand === true));
      if (event.hand !== true) this.http.respond({ status: 200, body: this.db.get('log') });
    },`,
});

describe('either of two processes', () => {
  it('runs hooks with db, relays answers of the component, and runs it manually', async () => {
    const [first, second] = pair('command-api');
    const source = await withClientOf(first, (client) => client.createSource({ component_code: HOOKED }));
    const activate = (server: Server, active: boolean): Promise<unknown> =>
      withClientOf(server, (client) => client.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { active } }));
    const logs = async (): Promise<unknown[]> =>
      Promise.all(
        pair('ingress').map(async ({ url }) =>
          jsonOf(await send(endpointOf({ url, apiKey: '' }, source), { body: {} })),
        ),
      );
    expect(await logs()).toEqual([
      ['deploy', 'activate'],
      ['deploy', 'activate'],
    ]);
    await activate(second, false);
    await activate(first, true);
    const whole = ['deploy', 'activate', 'deactivate', 'activate'];
    expect(await logs()).toEqual([whole, whole]);
    for (const server of [first, second]) {
      const reply = await withClientOf(server, (client) => client.runNow(source.id, { hand: true }));
      expect(reply.text).toContain('ran by hand: true');
    }
    await withClientOf(second, (client) => client.deleteSource(source.id));
  }, 120_000);

  it('shows the latest write of the other, without and with its position', async () => {
    const writers = pair('command-api');
    const readers = pair('query-api').map(({ url }) => new ApiClient({ url, apiKey: deployment.apiKey }));
    const missed: string[] = [];
    try {
      for (let n = 0; n < 50; n++) {
        const { url } = writers[n % 2] as Server;
        const source = { url, apiKey: deployment.apiKey };
        const writer = new ApiClient(source);
        const reply = await writer.call<{ data: Webhook }>('POST', '/v1/webhooks', { query: { url: receiver.url } });
        await writer.close();
        expect(reply.status).toBe(200);
        const position = String(reply.headers['x-sluice-position']);
        expect(position).toMatch(/^\d{20}/);
        const reader = readers[Math.floor(n / 2) % 2] as ApiClient;
        const path = `/v1/webhooks/${reply.body.data.id}`;
        const bare = await reader.call('GET', path);
        const positioned = await reader.call('GET', path, { headers: { 'x-sluice-position': position } });
        if (bare.status !== 200 || positioned.status !== 200)
          missed.push(`${n}: ${bare.status} bare, ${positioned.status} with ${position}`);
      }
    } finally {
      await Promise.all(readers.map((reader) => reader.close()));
    }
    expect(missed).toEqual([]);
  }, 120_000);

  it('routes an event that is sent right after the answer to the subscription', async () => {
    const source = await api.createSource({
      component_code: componentCode({
        members: 'run(event) { this.$emit(event.body, { name: event.body.channel }); },',
      }),
    });
    const ingress = pair('ingress');
    for (let n = 0; n < 30; n++) {
      const channel = `c${n}`;
      await api.subscribe(source.id, webhook.id, channel);
      expect(await post(source, { channel }, ingress[n % 2])).toBe(200);
    }
    const channels = (): string[] => receivedOf(receiver, source).map(({ channel }) => channel);
    await receiver.until('thirty events', () => new Set(channels()).size >= 30, 30_000);
    expect(channels().sort()).toEqual(Array.from({ length: 30 }, (_, n) => `c${n}`).sort());
  }, 120_000);
});

describe('one of two processes that stops in order under load', () => {
  it('loses nothing and fails no request', async () => {
    const relay = await deploy(`${RELAY}// stopped`);
    const counter = await deploy(`${COUNTER}// stopped`);
    const gate = new Gate();
    const load = new KillLoad(deployment, gate);
    let isOver = false;
    const asked: number[] = [];
    let asking: readonly Promise<void>[] = [];
    const ask = async (method: 'GET' | 'POST', path: string, query?: Record<string, string>): Promise<void> => {
      while (!isOver) {
        asked.push((await api.call(method, path, query ? { query } : {})).status);
        await pause(50);
      }
    };
    try {
      load.start([
        { source: relay, clients: 3, times: 1, pauseMs: 60 },
        { source: counter, clients: 2, times: 1, pauseMs: 100 },
      ]);
      gate.open();
      asking = [
        ask('GET', '/v1/users/me/sources'),
        ask('POST', '/v1/subscriptions', { emitter_id: relay.id, listener_id: webhook.id }),
      ];
      for (const role of ROLES) {
        const [first] = pair(role);
        await pause(500);
        expect([role, await first.stop()]).toEqual([role, 0]);
        await pause(500);
        await first.start();
      }
      isOver = true;
      await Promise.all([...asking, load.stop()]);
      await receiver.until(
        'everything acknowledged is delivered',
        () => load.ledgers.every((ledger) => missingOf(receiver, ledger).length === 0),
        60_000,
      );
      expect(problemsOf(receiver, load.ledgers)).toEqual([]);
      expect(counterProblems(receiver, counter)).toEqual([]);
      expect(load.ledgers.map(({ sent, acknowledged }) => sent - acknowledged.size)).toEqual([0, 0]);
      expect(asked.filter((status) => status !== 200 && status !== 503)).toEqual([]);
      expect(asked.length).toBeGreaterThan(50);
    } finally {
      isOver = true;
      await Promise.allSettled(asking);
      await load.close();
    }
  }, 240_000);
});
