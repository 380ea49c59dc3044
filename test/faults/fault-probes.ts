import { setTimeout as pause } from 'node:timers/promises';
import { ApiClient, endpointOf, type Data, type Source, type Webhook } from '#test/harness/api-client.js';
import { type Deployment } from '#test/harness/deployment.js';
import { type Server } from '#test/harness/server.js';
import { type WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { request } from 'undici';
import { DEPLOYED } from './kill9-components.js';
import { readiness } from './supervisor.js';

/** A request to one process, and the time of its first answer. */
export interface Answered {
  readonly what: string;
  /** Time since the end of the fault. Undefined when there was no answer in time. */
  readonly ms: number | undefined;
  /** Reason why the last attempt failed. */
  readonly last?: string;
}

export interface ProbeScene {
  readonly deployment: Deployment;
  /** Sources that answer their callers. Each is asked through each ingress. */
  readonly responders: readonly Source[];
  /** Answers at once, and its events are delivered to each of the webhooks. */
  readonly emitter: Source;
  readonly webhooks: readonly Webhook[];
  readonly receiver: WebhookReceiver;
  /** Delivered to one of the webhooks. */
  readonly ticker: Source;
}

const ATTEMPT_MS = 10_000;
/** A deployment with hooks on a busy machine. */
const DEPLOY_MS = 40_000;
const AGAIN_MS = 250;
/** Ids above those of the load. */
const FIRST_ID = 1_000_000_000_000;

interface Window {
  readonly startedAt: number;
  readonly until: number;
}

/** Sends every process requests of its role until it answers. */
export class FaultProbes {
  private nextId = FIRST_ID;

  constructor(private readonly scene: ProbeScene) {}

  get responders(): readonly Source[] {
    return this.scene.responders;
  }

  /** Resolves when all have answered, or after `withinMs`. Never rejects. */
  async run(withinMs: number): Promise<readonly Answered[]> {
    const startedAt = performance.now();
    const window: Window = { startedAt, until: startedAt + withinMs };
    const { deployment, responders } = this.scene;
    const { ingress } = deployment.processes;
    const asked = [
      ...deployment.all.map((server) => this.ready(server, window)),
      ...ingress.flatMap((server) => responders.map((source, n) => this.response(server, source, n, window))),
      ...ingress.map((server) => this.delivery(server, window)),
      ...deployment.processes['command-api'].map((server) => this.deployment(server, window)),
      this.tick(window),
    ];
    const answers = (await Promise.all(asked)).flat();
    this.scene.receiver.clear();
    return answers;
  }

  private ready(server: Server, window: Window): Promise<Answered> {
    return untilTrue(`readiness of ${this.nameOf(server)}`, window, async () => {
      const status = await readiness(server);
      return status === 200 ? undefined : `/readyz ${status}`;
    });
  }

  private response(server: Server, source: Source, n: number, window: Window): Promise<Answered> {
    return untilTrue(`response ${n + 1} through ${this.nameOf(server)}`, window, async () => {
      const id = this.nextId++;
      const answer = await post(server, source, id);
      return answer === `200 ${JSON.stringify({ id })}` ? undefined : answer;
    });
  }

  /** An event is sent until it is acknowledged, and must then arrive at each webhook. */
  private async delivery(server: Server, window: Window): Promise<Answered> {
    const { emitter, webhooks, receiver } = this.scene;
    const what = `delivery from ${this.nameOf(server)}`;
    const acknowledged: number[] = [];
    const sent = await untilTrue(what, window, async () => {
      const id = this.nextId++;
      const answer = await post(server, emitter, id);
      if (!answer.startsWith('200')) return answer;
      acknowledged.push(id);
      return undefined;
    });
    if (sent.ms === undefined) return sent;
    return untilTrue(what, window, () => {
      const arrived = receiver.accepted.filter(({ body }) => acknowledged.includes((body as { id: number }).id));
      const paths = new Set(arrived.map(({ path }) => path));
      return paths.size === webhooks.length ? undefined : `${paths.size} of ${webhooks.length} webhooks`;
    });
  }

  private async deployment(server: Server, window: Window): Promise<readonly Answered[]> {
    const { deployment } = this.scene;
    const api = this.clientOf(server);
    const name = this.nameOf(server);
    let source: Source | undefined;
    try {
      const deployed = await untilTrue(`deployment through ${name}`, window, async () => {
        const body = { component_code: DEPLOYED, name: `fault-probe-${this.nextId++}` };
        const made = await inTime(api.call<Data<Source>>('POST', '/v1/sources', { body }), DEPLOY_MS);
        if (made.status !== 200) return `${made.status} ${made.text.slice(0, 200)}`;
        source = made.body.data;
        return undefined;
      });
      if (!source) return [deployed];
      const { id } = source;
      const renamed = `fault-probe-renamed-${this.nextId++}`;
      const changed = await untilTrue(`change through ${name}`, window, async () => {
        const reply = await inTime(api.call('PUT', `/v1/sources/${id}`, { body: { name: renamed } }), DEPLOY_MS);
        return reply.status === 200 ? undefined : `${reply.status} ${reply.text.slice(0, 200)}`;
      });
      if (changed.ms === undefined) return [deployed, changed];
      const queries = deployment.processes['query-api'];
      const reads = await Promise.all(queries.map((query) => this.read(query, id, renamed, name, window)));
      const removed = await untilTrue(`deletion through ${name}`, window, async () => {
        const { status, text } = await inTime(api.call('DELETE', `/v1/sources/${id}`), DEPLOY_MS);
        return status === 204 || status === 404 ? undefined : `${status} ${text.slice(0, 200)}`;
      });
      return [deployed, changed, ...reads, removed];
    } finally {
      await api.close();
    }
  }

  private async read(server: Server, id: string, renamed: string, by: string, window: Window): Promise<Answered> {
    const api = this.clientOf(server);
    try {
      return await untilTrue(`change of ${by} at ${this.nameOf(server)}`, window, async () => {
        const reply = await inTime(api.call<Data<Source>>('GET', `/v1/sources/${id}`), ATTEMPT_MS);
        if (reply.status !== 200) return `${reply.status} ${reply.text.slice(0, 200)}`;
        return reply.body.data.name === renamed ? undefined : `the name is still ${reply.body.data.name}`;
      });
    } finally {
      await api.close();
    }
  }

  /** Scheduled, run and delivered since the fault was over. */
  private tick(window: Window): Promise<Answered> {
    const { receiver, ticker } = this.scene;
    const from = Date.now() / 1_000;
    return untilTrue('a tick', window, () => {
      const ids = receiver.accepted
        .filter(({ emitterId }) => emitterId === ticker.id)
        .map(({ body }) => (body as { id: number }).id);
      return ids.some((id) => id >= from) ? undefined : `the newest of ${ids.length} is ${Math.max(0, ...ids)}`;
    });
  }

  /** Reads the address at each call, because a killed process has none and then a new one. */
  private clientOf(server: Server): ApiClient {
    const { apiKey } = this.scene.deployment;
    return new ApiClient({
      apiKey,
      get url() {
        return server.url;
      },
    });
  }

  private nameOf(server: Server): string {
    return this.scene.deployment.nameOf(server);
  }
}

/** `attempt` returns the reason of its failure. */
const untilTrue = async (
  what: string,
  { startedAt, until }: Window,
  attempt: () => Promise<string | undefined> | string | undefined,
): Promise<Answered> => {
  let last = 'not tried';
  while (performance.now() < until) {
    try {
      const failure = await attempt();
      if (failure === undefined) return { what, ms: performance.now() - startedAt };
      last = failure;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await pause(AGAIN_MS);
  }
  return { what, ms: undefined, last };
};

/** Status and body. Rejects without an answer in time. */
const post = async (server: Server, source: Source, id: number): Promise<string> => {
  const reply = await request(endpointOf({ url: server.url, apiKey: '' }, source), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id }),
    signal: AbortSignal.timeout(ATTEMPT_MS),
    reset: true,
  });
  return `${reply.statusCode} ${(await reply.body.text()).slice(0, 200)}`;
};

const inTime = async <T>(work: Promise<T>, ms: number): Promise<T> => {
  const late = new AbortController();
  try {
    return await Promise.race([
      work,
      pause(ms, undefined, { signal: late.signal }).then(() => {
        throw new Error(`no answer within ${ms} ms`);
      }),
    ]);
  } finally {
    late.abort();
    work.catch(() => undefined);
  }
};
