import { afterAll, beforeAll } from '@jest/globals';
import { ApiClient, endpointOf, type EventSummary, type Source } from './api-client.js';
import { send, type HttpAnswer } from './http.js';
import { Deployment } from './deployment.js';
import { Server, type ServerOptions, type TestServer } from './server.js';
import { eventually } from './wait.js';
import { WebhookReceiver } from './webhook-receiver.js';

/** Set by `npm run test:engines`, which runs the same specs with each role as a process on the distributed engines. */
const inRoles = process.env.SLUICE_TEST_DEPLOYMENT === 'roles';

/** Eight processes start at once, which takes minutes on a busy machine. */
const START_MS = inRoles ? 400_000 : 120_000;

/** A server for one spec file, with a client and a webhook receiver. */
export class Instance<S extends TestServer = TestServer> {
  readonly api: ApiClient;
  private started: WebhookReceiver | undefined;

  constructor(readonly server: S) {
    this.api = new ApiClient(server);
  }

  get receiver(): WebhookReceiver {
    if (!this.started) throw new Error('the instance is not started');
    return this.started;
  }

  async start(): Promise<void> {
    this.started = await WebhookReceiver.start();
    await this.server.start();
    // There the read models may be behind the set-up that made the key.
    if (inRoles)
      await eventually(
        'the user of the key can be read',
        async () => ((await this.api.call('GET', '/v1/users/me')).status === 503 ? undefined : true),
        60_000,
      );
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.server.close();
    await this.started?.close();
  }

  deploy(code: string, props: Readonly<Record<string, unknown>> = {}, name?: string): Promise<Source> {
    return this.api.createSource({
      component_code: code,
      configured_props: props,
      ...(name === undefined ? {} : { name }),
    });
  }

  endpoint(source: Source): string {
    return endpointOf(this.server, source);
  }

  async post(source: Source, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
    return send(this.endpoint(source), { body, headers });
  }

  /** Waits until the channel's history has at least `count` events. Returns them oldest first. */
  async history(source: Source, count: number, channel?: string, timeoutMs?: number): Promise<readonly EventSummary[]> {
    const query: Record<string, string> = {
      expand: 'event',
      ...(channel === undefined ? {} : { event_name: channel }),
    };
    return eventually(
      `${count} events of ${source.id} on "${channel ?? ''}"`,
      async () => {
        const { data } = await this.api.summaries(source.id, query);
        return data.length >= count ? [...data].reverse() : undefined;
      },
      timeoutMs,
    );
  }

  async payloads(source: Source, count: number, channel?: string): Promise<readonly unknown[]> {
    return (await this.history(source, count, channel)).map(({ event }) => event);
  }

  /** Creates a webhook to the receiver and subscribes it to an emitter. */
  async listen(emitterId: string, channel?: string): Promise<string> {
    const webhook = await this.api.createWebhook(this.receiver.url);
    this.receiver.trust(webhook.signing_key);
    await this.api.subscribe(emitterId, webhook.id, channel);
    return webhook.id;
  }

  /** Bodies that one webhook has accepted. */
  arrived(webhookId: string): readonly unknown[] {
    return this.receiver.accepted
      .filter(({ headers }) => headers['x-pd-webhook-id'] === webhookId)
      .map(({ body }) => body);
  }
}

/** Starts an instance for a describe block. Call it at the top. */
export const useInstance = (options: ServerOptions = {}): Instance =>
  started(new Instance(inRoles ? new Deployment(options) : new Server(options)));

/** The same, but always in one process on the embedded engine. */
export const useStandalone = (options: ServerOptions = {}): Instance<Server> =>
  started(new Instance(new Server(options)));

const started = <S extends TestServer>(instance: Instance<S>): Instance<S> => {
  beforeAll(() => instance.start(), START_MS);
  afterAll(() => instance.close(), START_MS);
  return instance;
};
