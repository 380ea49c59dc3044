import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedEngines } from '#libs/engines/embedded/index.js';
import { delayedAlarm } from '#libs/routing/delayed-alarm.js';
import { connectAccount } from './accounts.js';
import { ApiClient, type Data, endpointOf, type EventSummary, type Source, type Target } from './api-client.js';
import { componentCode, CUSTOM_HTTP } from './component-code.js';
import { jsonOf, send } from './http.js';
import { withoutRevision } from './move-scene.js';
import { NpmRegistry } from './npm-registry.js';
import { removeDir, tempDir } from './temp-dir.js';
import { TokenServer } from './token-server.js';
import { eventually } from './wait.js';

interface Parts {
  /** Emits the access token of an account, which lives for a second. */
  readonly refreshing: Source;
  readonly account: string;
  /** Emits the version of an npm package that stays beside its bundle. */
  readonly packaged: Source;
  /** Adds one to a record of a data store, and answers with it. */
  readonly storing: Source;
  readonly store: string;
  /** Emits events that wait: `soon`, `far` and `cancelled`. */
  readonly delaying: Source;
  /** Accepts events of an app. */
  readonly hooked: Source;
  readonly workflow: Workflow;
  /** A run of the workflow that waits. */
  readonly waitingRun: string;
}

interface Workflow {
  readonly id: string;
  /** An HTTP trigger, and a source of its own. */
  readonly triggers: readonly [{ readonly key: string }, Source];
}

/** State of the features of components on an installation that is moved. Each `use` shows that they still work. */
export class MoveFeatures {
  private readonly registryDir = tempDir('registry');
  private readonly api: ApiClient;
  private parts: Parts | undefined;
  private used = 0;

  private constructor(
    private readonly target: Target,
    private readonly packages: NpmRegistry,
    readonly tokens: TokenServer,
  ) {
    this.api = new ApiClient(target);
  }

  /** `target`: where it runs now. */
  static async start(target: Target): Promise<MoveFeatures> {
    const [packages, tokens] = await Promise.all([NpmRegistry.start(), TokenServer.start({ expiresIn: 1 })]);
    return new MoveFeatures(target, packages, tokens);
  }

  /** Settings of the first installation. */
  get first(): Readonly<Record<string, string>> {
    return { ...this.later, SLUICE_REGISTRY_DIR: this.registryDir };
  }

  /** Settings of every later one, which has neither the folder of the registry nor a package in its cache. */
  get later(): Readonly<Record<string, string>> {
    return { SLUICE_NPM_REGISTRY: this.packages.url };
  }

  async build(): Promise<void> {
    const { api, tokens, packages } = this;
    const folder = join(this.registryDir, 'parts', 'shop', 'sources', 'new-order');
    mkdirSync(folder, { recursive: true });
    const entry = `export default { key: 'shop-new-order', name: 'Order', version: '1.0.0', run() {} };`;
    writeFileSync(join(folder, 'new-order.mjs'), entry);
    await packages.publish('swell', '1.0.0', {
      'index.js': `module.exports = require('fs').readFileSync(__dirname + '/text.txt', 'utf8');`,
      'text.txt': 'swell 1.0.0',
    });

    const account = await connectAccount(api, tokens, 'moved-0');
    const refreshing = await this.deploy(
      {
        props: `slack: { type: 'app', app: 'slack' }, http: '$.interface.http'`,
        members: `run() { this.$emit(this.slack.$auth.oauth_access_token.split('-').at(-1)); },`,
      },
      { slack: { authProvisionId: account } },
    );
    const packaged = await this.deploy({ head: `import x from 'swell';`, members: 'run() { this.$emit(x); },' });
    const storing = await this.deploy(
      {
        props: `${CUSTOM_HTTP}, store: { type: 'data_store' }`,
        members: `async run() { this.http.respond({ status: 200, body: { n: await this.store.incr('n') } }); },`,
      },
      { store: 'orders' },
    );
    const delaying = await this.deploy({
      members: `run() {
        for (const id of ['soon', 'far', 'cancelled']) this.$emit(id, { id, delivery_ts: Date.now() + 3_600_000 });
      },`,
    });
    const hooked = await this.deploy(
      {
        props: `chat: { type: 'app', app: 'chat' }, word: 'string',
          hook: { type: '$.interface.apphook', appProp: 'chat', eventNames() { return [this.word]; } }`,
        members: 'run(event) { this.$emit(event); },',
      },
      { word: 'message' },
    );
    const store = String(storing.configured_props['store']);
    const workflow = await this.deployWorkflow();
    const waitingRun = await this.runThatWaits(workflow);
    this.parts = { workflow, waitingRun, refreshing, account, packaged, storing, store, delaying, hooked };

    await api.expect(200, 'PUT', `/v1/data_stores/${store}/records/brief`, { body: { value: ['kept'], ttl: 3_600 } });
    await this.post(delaying);
    const waiting = await eventually('three events wait', async () => {
      const found = await this.waiting();
      return found.length === 3 ? found : undefined;
    });
    const id = waiting.find(({ event }) => event === 'cancelled')?.id ?? '';
    const query = { event_name: '$in', start_id: id, end_id: id };
    await api.expect(202, 'DELETE', `/v1/sources/${delaying.id}/events`, { query });
    await eventually(
      'the registry lists its component',
      async () => ((await api.call('GET', REGISTERED)).status === 200 ? true : undefined),
      60_000,
    );
    await this.use();
    // No installation resolves this version, because the lock moves.
    await packages.publish('swell', '2.0.0');
  }

  /** Uses every feature once. Returns the actual and the expected results. */
  async use(): Promise<readonly [got: unknown, expected: unknown]> {
    const { refreshing, packaged, storing, hooked, workflow } = this.made;
    const times = ++this.used;
    const emits = async (source: Source): Promise<unknown> => {
      await this.post(source);
      return this.newest(source, times);
    };
    const body = { event_name: 'message', payload: { times } };
    await this.api.expect(202, 'POST', '/v1/apps/chat/events', { body });
    const got = {
      token: Number(await emits(refreshing)) >= times,
      package: await emits(packaged),
      stored: jsonOf(await this.post(storing)),
      app: await this.newest(hooked, times),
      workflow: jsonOf(await this.hit(workflow, { times })),
      owned: await this.runOfOwnSource(workflow, times),
      drafted: await this.testOfDraft(workflow, times),
      repeatedTokens: this.tokens.asked.filter((token, n) => this.tokens.asked.indexOf(token) !== n),
    };
    const app = { times };
    return [
      got,
      {
        token: true,
        package: 'swell 1.0.0',
        stored: { n: times },
        app,
        workflow: { twice: 2 * times },
        owned: [{ times }, 409],
        drafted: ['of the draft', times],
        repeatedTokens: [],
      },
    ];
  }

  /** Answers that every later installation must repeat. */
  async answers(): Promise<Readonly<Record<string, string>>> {
    const { account, packaged, store, hooked, workflow, waitingRun } = this.made;
    const paths = [
      `/v1/accounts/${account}?include_credentials=true`,
      `/v1/components/${packaged.component_id}/packages`,
      '/v1/components?package=swell',
      '/v1/components?package=swell@1.0.0',
      '/v1/data_stores',
      `/v1/data_stores/${store}/records`,
      REGISTERED,
      '/v1/components/search?query=order',
      `/v1/sources/${hooked.id}`,
      `/v1/workflows/${workflow.id}`,
      `/v1/workflows/${workflow.id}?draft=true`,
      `/v1/workflows/${workflow.id}/runs?state=waiting`,
      `/v1/runs/${waitingRun}/steps/double`,
    ];
    const entries = paths.map(async (path): Promise<[string, string]> => {
      const { status, text } = await this.api.call('GET', path);
      // A cursor in a list of runs is a place in the store of their history.
      const shown = path.includes('/runs?') ? text.replace(/"(start|end)_cursor":"[^"]*"/g, '') : text;
      return [path, `${status} ${withoutRevision(path, shown.replaceAll(this.target.url, 'http://server'))}`];
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  /** Makes the event `soon` due, on a stopped installation. */
  async makeDue({ delayed, due }: Pick<EmbeddedEngines, 'delayed' | 'due'>): Promise<void> {
    for await (const event of delayed.all()) {
      if (event.payload !== '"soon"') continue;
      const dueNow = { ...event, dueAt: Date.now() };
      // An archive has the event alone, and an import creates its alarm.
      await delayed.put([dueNow]);
      await due.put([delayedAlarm(dueNow)]);
    }
  }

  /** Events that went out, once `soon` did, and those that wait. */
  async outAndWaiting(): Promise<readonly [out: readonly unknown[], waiting: readonly unknown[]]> {
    const { delaying } = this.made;
    await this.newest(delaying, 1);
    const { data } = await this.api.summaries(delaying.id, { expand: 'event' });
    return [data.map(({ event }) => event), (await this.waiting()).map(({ event }) => event)];
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.packages.close();
    await this.tokens.close();
    removeDir(this.registryDir);
  }

  private get made(): Parts {
    if (!this.parts) throw new Error('the features are not built');
    return this.parts;
  }

  private async waiting(): Promise<readonly EventSummary[]> {
    const { data } = await this.api.summaries(this.parts?.delaying.id ?? '', { event_name: '$in', expand: 'event' });
    return data;
  }

  private newest(source: Source, count: number): Promise<unknown> {
    return eventually(
      `${count} events of ${source.id}`,
      async () => {
        const { data } = await this.api.summaries(source.id, { expand: 'event' });
        return data.length >= count ? data[0]?.event : undefined;
      },
      60_000,
    );
  }

  private async deploy(parts: Parameters<typeof componentCode>[0], props: object = {}): Promise<Source> {
    const body = { component_code: componentCode(parts), configured_props: props };
    return (await this.api.expect<Data<Source>>(200, 'POST', '/v1/sources', { body })).data;
  }

  private async deployWorkflow(): Promise<Workflow> {
    const code = `export default { async run({ steps, $ }) {
      const { times } = steps.trigger.event.body;
      await $.respond({ status: 200, body: { twice: 2 * times } });
      if (times === 0) $.flow.delay(3_600_000);
    } }`;
    const component_code = `export default {
      key: 'own-source', name: 'Own', version: '1.0.0', type: 'source', props: { http: '$.interface.http' },
      run({ body }) { this.$emit({ body }); },
    }`;
    await this.api.expect(200, 'POST', '/v1/components', { body: { component_code } });
    const triggers = [
      { type: 'http', response: 'custom' },
      { type: 'source', name: 'own', uses: 'own-source' },
    ];
    const body = { name: 'moved', triggers, steps: [{ namespace: 'double', code }] };
    const { data } = await this.api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body });
    await this.saveDraft(data, triggers);
    return data;
  }

  /** The draft of a workflow, with a secret and a source that its deployment would change. */
  private async saveDraft({ id }: Workflow, triggers: readonly object[]): Promise<void> {
    const component_code = `export default {
      key: 'draft-action', name: 'Draft', version: '1.0.0', type: 'action', props: { word: { type: 'string', secret: true } },
      run({ steps }) { return [this.word, steps.trigger.event.times]; },
    }`;
    await this.api.expect(200, 'POST', '/v1/components', { body: { component_code } });
    const steps = [{ namespace: 'tell', uses: 'draft-action', props: { word: 'of the draft' } }];
    await this.api.expect(200, 'PUT', `/v1/workflows/${id}`, { body: { draft: true, triggers, steps } });
  }

  private async testOfDraft({ id }: Workflow, times: number): Promise<unknown> {
    const body = { test: true, wait: true, event: { times } };
    const { data } = await this.api.expect<Data<{ steps: readonly { exports: { $return_value: unknown } }[] }>>(
      200,
      'POST',
      `/v1/workflows/${id}/invoke`,
      { body },
    );
    return data.steps[0]?.exports.$return_value;
  }

  /** The event of a run that its own source started, and the answer to a deletion of that source. */
  private async runOfOwnSource({ id, triggers }: Workflow, times: number): Promise<readonly unknown[]> {
    const [, own] = triggers;
    await send(endpointOf(this.target, own), { body: { times } });
    const run = await eventually(`${times} runs by the own source`, async () => {
      const { body } = await this.api.call<Data<{ id: string }[]>>('GET', `/v1/workflows/${id}/runs?trigger=own`);
      return body.data.length >= times ? body.data[0] : undefined;
    });
    const { data } = await this.api.expect<Data<{ event: { body: unknown } }>>(200, 'GET', `/v1/runs/${run.id}`);
    return [data.event.body, (await this.api.call('DELETE', `/v1/sources/${own.id}`)).status];
  }

  private async runThatWaits(workflow: Workflow): Promise<string> {
    const { headers } = await this.hit(workflow, { times: 0 });
    const id = String(headers['x-sluice-run-id']);
    return eventually('a run waits', async () => {
      const { body } = await this.api.call<Data<{ state: string }>>('GET', `/v1/runs/${id}`);
      return body.data.state === 'waiting' ? id : undefined;
    });
  }

  private async hit({ triggers }: Workflow, body: object): ReturnType<typeof send> {
    const answer = await send(`${this.target.url}/h/${triggers[0].key}`, { body });
    if (answer.status !== 200) throw new Error(`the workflow answered ${answer.status}: ${answer.text}`);
    return answer;
  }

  private async post(source: Source): ReturnType<typeof send> {
    const answer = await send(endpointOf(this.target, source), { body: {} });
    if (answer.status !== 200) throw new Error(`the endpoint of ${source.id} answered ${answer.status}`);
    return answer;
  }
}

const REGISTERED = '/v1/components/registry/shop-new-order';
