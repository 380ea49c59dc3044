import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type EmbeddedEngines, openEmbedded } from '#libs/engines/embedded/index.js';
import { systemClock } from '#libs/kernel/clock.js';
import { ApiClient, type Data, endpointOf, type Source, type Target, type Webhook } from './api-client.js';
import { componentCode, CUSTOM_HTTP, emitterCode } from './component-code.js';
import { type HttpAnswer, jsonOf, send } from './http.js';
import { ROOT } from './paths.js';
import { eventually } from './wait.js';
import { type Received, type WebhookReceiver } from './webhook-receiver.js';

export type Settings = Readonly<Record<string, string | undefined>>;

/** Runs the command line and resolves with its output. */
export const sluice = async (settings: Settings, ...args: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'dist/apps/cli/src/main.js'), ...args], {
    env: { PATH: process.env.PATH ?? '', ...settings },
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
};

/** SLUICE_SECRET_KEY of a server that generated its own key. */
export const secretKeyIn = (dataDir: string): string => readFileSync(join(dataDir, 'secret.key'), 'utf8').trim();

/** Opens the data directory of a stopped server. */
export const withStopped = async (
  dataDir: string,
  work: (engines: EmbeddedEngines) => Promise<void>,
): Promise<void> => {
  const engines = await openEmbedded({
    dataDir,
    clock: systemClock,
    secretKey: Buffer.from(secretKeyIn(dataDir), 'base64'),
    onFatal: (error) => {
      throw error;
    },
  });
  try {
    await work(engines);
  } finally {
    await engines.close();
  }
};

/** Makes the next attempt due soon. The number of earlier attempts depends on the machine's speed. */
export const makeRetriesDue = async ({ due }: EmbeddedEngines): Promise<void> => {
  for await (const entry of due.all()) if (entry.kind === 'delivery') await due.put([{ ...entry, dueAt: Date.now() }]);
};

/** Answers of the API by path, without fields of the server or the engine itself. */
export type Answers = Readonly<Record<string, string>>;

interface Parts {
  /** Answers with its number of runs, kept in `$.service.db`. */
  readonly counting: Source;
  /** Emits each id once. */
  readonly unique: Source;
  /** Answers with its secret prop reversed. */
  readonly secretive: Source;
  /** Receives the emits of `unique`. Emits of `counting` go to another webhook, whose deliveries are not checked. */
  readonly webhook: Webhook;
  /** Answers 503 until `letThrough` is called. Receives the emits of `unique` on the channel `later`. */
  readonly failing: Webhook;
  /** Id of a connected account. */
  readonly account: string;
  /** Path of the workspace's variables. */
  readonly variables: string;
  readonly renamedAt: number;
}

const isFailing = ({ path }: Pick<Received, 'path'>): boolean => path.endsWith('failing');

/** Showing credentials is an event of the account, so each of these reads raises its revision. */
export const withoutRevision = (path: string, text: string): string =>
  path.startsWith('/v1/accounts') ? text.replace(/"revision":\d+/g, '"revision":…') : text;

/** An installation with something of every kind. It is built once, then moved from one kind of engines to another. */
export class MoveScene {
  private readonly api: ApiClient;
  private parts: Parts | undefined;
  private counted = 0;
  private failingAnswers = 503;

  /** `target`: where it runs now. */
  constructor(
    private readonly target: Target,
    private readonly receiver: WebhookReceiver,
  ) {
    this.api = new ApiClient(target);
    receiver.behave((_n, request) => ({ status: isFailing(request) ? this.failingAnswers : 200 }));
  }

  get made(): Parts {
    if (!this.parts) throw new Error('the scene is not built');
    return this.parts;
  }

  async build(): Promise<void> {
    const { api, receiver } = this;
    const counting = await this.deploy({
      props: `${CUSTOM_HTTP}, db: '$.service.db'`,
      members: `run() {
        this.db.set('n', (this.db.get('n') ?? 0) + 1);
        this.http.respond({ status: 200, body: this.db.get('n') });
      },`,
    });
    const unique = await api.createSource({ component_code: emitterCode(`dedupe: 'unique',`) });
    const secretive = await this.deploy(
      {
        props: `${CUSTOM_HTTP}, token: { type: 'string', secret: true }`,
        members: `run() { this.http.respond({ status: 200, body: [...this.token].reverse().join('') }); },`,
      },
      { token: 'ytluciffid' },
    );
    const webhook = await this.listen(receiver.url, unique.id);
    await this.listen(`${receiver.url}?counting`, counting.id);
    const failing = await this.listen(`${receiver.url}?failing`, unique.id, 'later');
    const gone = await api.createSource({ component_code: emitterCode() });
    await api.deleteSource(gone.id);
    const account = await this.connect();
    const { data: me } = await api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
    const variables = `/v1/workspaces/${me.orgs[0]?.id}/variables`;
    await api.expect(200, 'PUT', `${variables}/A`, { body: { value: 'moved' } });
    this.parts = { counting, unique, secretive, webhook, failing, account, variables, renamedAt: Date.now() };

    await api.expect(200, 'PUT', `/v1/sources/${counting.id}`, { body: { name: 'Renamed' } });
    await this.emit(['first', { id: 1 }], ['second', { id: 2 }], ['waits', { id: 3, name: 'later' }]);
    await this.countOn();
    await this.countOn();
    await eventually(
      'the attempts are listed',
      async () => {
        const attempts = await Promise.all([webhook, failing].map(({ id }) => this.attemptsOf(id)));
        return attempts[0] === 2 && (attempts[1] ?? 0) >= 1 ? true : undefined;
      },
      60_000,
    );
  }

  /** Answers that every later installation must repeat. */
  async answers(): Promise<Answers> {
    const { counting, unique, secretive, webhook, failing, account, variables, renamedAt } = this.made;
    const resources = [counting, unique, secretive, webhook, failing];
    const paths = [
      ...['sources', 'webhooks', 'subscriptions'].map((list) => `/v1/users/me/${list}`),
      ...resources.map(({ id }) => `/v1/audit/${id}`),
      ...[counting, unique, secretive].flatMap(({ id, component_id }) => [
        ...[`/v1/sources/${id}`, `/v1/components/${component_id}`, `/v1/audit/${component_id}`],
      ]),
      ...['', '&event_name=later'].map((channel) => `/v1/sources/${unique.id}/event_summaries?expand=event${channel}`),
      `/v1/audit/${counting.id}?at=${renamedAt}`,
      `/v1/webhooks/${webhook.id}/deliveries`,
      '/v1/accounts',
      `/v1/accounts/${account}?include_credentials=true`,
      variables,
    ];
    const { url } = this.target;
    const entries = paths.map(async (path): Promise<[string, string]> => {
      const { status, text } = await this.api.call('GET', path);
      // The engine assigns log positions.
      const same = text.replaceAll(url, 'http://server').replace(/"position":"[\d-]+"/g, '"position":"…"');
      return [path, `${status} ${withoutRevision(path, same)}`];
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  /** Connects an account whose token is never refreshed, because nothing uses it. */
  private async connect(): Promise<string> {
    const oauth = { token_url: 'https://example.com/token', client_id: 'c', refresh_token: 'r', expires_in: 3600 };
    const body = { app: 'slack', name: 'Team', credentials: { oauth_access_token: 'a' }, oauth };
    return (await this.api.expect<Data<{ id: string }>>(200, 'POST', '/v1/accounts', { body })).data.id;
  }

  /** Runs the counter once more. Returns its answer and the expected one. */
  async countOn(): Promise<readonly [got: unknown, expected: number]> {
    const got = jsonOf(await this.post(this.made.counting));
    return [got, ++this.counted];
  }

  async emit(...emits: readonly (readonly [unknown, object])[]): Promise<void> {
    await this.post(this.made.unique, emits);
  }

  async secretBackwards(): Promise<string> {
    return (await this.post(this.made.secretive)).text;
  }

  /** Deliveries to the webhooks that do not fail, repeats included. */
  get arrived(): readonly unknown[] {
    return this.receiver.accepted.filter((request) => !isFailing(request)).map(({ body }) => body);
  }

  untilArrived(count: number): Promise<void> {
    return this.receiver.until(`${count} deliveries`, () => this.arrived.length >= count, 60_000);
  }

  /** From now on the delivery that has failed so far succeeds. */
  letThrough(): void {
    this.failingAnswers = 200;
  }

  /** Waits for that delivery. Resolves with all ids under which it arrived. */
  async delivered(): Promise<ReadonlySet<string>> {
    await this.receiver.until('the retry', ({ accepted }) => accepted.some(isFailing), 60_000);
    return new Set(this.receiver.received.filter(isFailing).map(({ webhookId }) => webhookId));
  }

  close(): Promise<void> {
    return this.api.close();
  }

  private deploy(parts: { readonly props: string; readonly members: string }, props: object = {}): Promise<Source> {
    return this.api.createSource({ component_code: componentCode(parts), configured_props: props });
  }

  private async listen(url: string, emitter: string, channel?: string): Promise<Webhook> {
    const webhook = await this.api.createWebhook(url);
    this.receiver.trust(webhook.signing_key);
    await this.api.subscribe(emitter, webhook.id, channel);
    return webhook;
  }

  private async attemptsOf(webhookId: string): Promise<number> {
    const path = `/v1/webhooks/${webhookId}/deliveries`;
    return (await this.api.expect<Data<readonly unknown[]>>(200, 'GET', path)).data.length;
  }

  private async post(source: Source, body?: unknown): Promise<HttpAnswer> {
    const answer = await send(endpointOf(this.target, source), { body });
    if (answer.status !== 200) throw new Error(`the endpoint of ${source.id} answered ${answer.status}`);
    return answer;
  }
}
