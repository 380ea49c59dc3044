import { setTimeout as pause } from 'node:timers/promises';
import { types } from 'node:util';
import { ApiClient, type Data, type Paged } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { type TestServer } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { EffectSink } from './effect-sink.js';
import { Gate } from './kill9-load.js';
import { randomOf } from './random.js';
import { type EmitOfRun, problemsOfRun, type RunRecord, valueOf } from './workflow-kills-checks.js';
import { replyingOf, stepsOf } from './workflow-steps.js';

/** An installation whose processes the test kills. */
export interface KillTarget {
  readonly server: TestServer;
  /** Bounds of the time between two kills. Default: 300 to 2,500. */
  readonly loadMs?: readonly [shortest: number, longest: number];
  /** Kills processes with -9 and starts them again. Resolves with their number once all are ready. */
  kill(random: () => number): Promise<number>;
}

export interface WorkflowKillOptions {
  readonly rounds: number;
  /** Unfinished runs that the load keeps up. */
  readonly inFlight: number;
  /** The same seed gives the same kill times. */
  readonly seed: number;
  readonly say: (line: string) => void;
}

export interface WorkflowKillReport {
  readonly kills: number;
  /** Runs whose callers were answered. */
  readonly acknowledged: number;
  readonly resumed: number;
  /** Replies of `$.respond` that reached their callers. */
  readonly replies: number;
  /** Executions of steps, and how many of them were repeats. */
  readonly executions: number;
  readonly repeats: number;
  readonly messages: number;
  /** Empty when every rule held. */
  readonly problems: readonly string[];
}

const CLIENTS = 16;
const LOAD_MS = [300, 2_500] as const;
const END_TIMEOUT_MS = 180_000;

/**
 * Keeps runs of two workflows in flight, kills at random times, and checks each run at the end: that it ended once, that
 * no stored outcome changed, and that a repeated side effect has the key of the first.
 */
export const runWorkflowKills = async (
  target: KillTarget,
  options: WorkflowKillOptions,
): Promise<WorkflowKillReport> => {
  const { server } = target;
  const api = new ApiClient(server);
  const receiver = await WebhookReceiver.start();
  const sink = await EffectSink.start();
  let scene: Scene | undefined;
  try {
    await server.start();
    scene = await Scene.of({ server, api, receiver, sink }, options.inFlight);
    return await killAndCheck(target, options, scene);
  } catch (error) {
    throw new Error(`kill rounds failed; last output of the server:\n${server.lastOutput.slice(-4_000)}`, {
      cause: error,
    });
  } finally {
    scene?.abandon();
    await api.close();
    await server.close();
    await receiver.close();
    await sink.close();
  }
};

const killAndCheck = async (
  target: KillTarget,
  { rounds, seed, say }: WorkflowKillOptions,
  scene: Scene,
): Promise<WorkflowKillReport> => {
  const random = randomOf(seed);
  const [shortest, longest] = target.loadMs ?? LOAD_MS;
  let kills = 0;
  scene.start();
  for (let round = 1; round <= rounds; round++) {
    scene.gate.open();
    await pause(shortest + random() * (longest - shortest));
    scene.gate.shut();
    const inFlight = scene.unfinished;
    kills += await target.kill(random);
    say(`round ${round}: ${inFlight} runs were in flight; ${scene.acknowledged.size} begun so far, up again`);
  }
  scene.gate.open();
  await scene.stop();
  return scene.report(kills);
};

interface Parts {
  readonly server: TestServer;
  readonly api: ApiClient;
  readonly receiver: WebhookReceiver;
  readonly sink: EffectSink;
}

interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

interface EmittedBody {
  readonly run: string;
  readonly seen: EmitOfRun['seen'];
}

interface Reply {
  readonly run: string;
  readonly value: unknown;
  readonly immediate: boolean;
}

/** The workflows under load, and what is known of their runs. */
class Scene {
  readonly gate = new Gate();
  /** Runs of which a caller was told. */
  readonly acknowledged = new Set<string>();
  private readonly replies = new Map<string, unknown>();
  private readonly resumed = new Set<string>();
  /** Outcomes that were seen while the load ran. They must stay. */
  private readonly outcomes = new Map<string, unknown>();
  private readonly problems: string[] = [];
  /** The records of runs in which these outcomes stood. */
  private readonly seenAs = new Map<string, string>();
  private readonly tasks: Promise<void>[] = [];
  /** Runs whose emit has come, of so many requests to the webhook. */
  private readonly emitted = new Set<string>();
  private read = 0;
  private hits = 0;
  private sending = true;
  private steering = true;

  private constructor(
    private readonly parts: Parts,
    private readonly inFlight: number,
    private readonly workflows: readonly [steps: Workflow, replying: Workflow],
  ) {}

  static async of(parts: Parts, inFlight: number): Promise<Scene> {
    const { api, receiver, sink } = parts;
    const make = async (response: string, steps: readonly unknown[]): Promise<Workflow> => {
      const settings = { concurrency: 200, data_retention: { runs: 1_000_000, days: 30 } };
      const body = { name: `killed, ${response}`, triggers: [{ type: 'http', response }], steps, settings };
      return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body })).data;
    };
    const workflows = [await make('default', stepsOf(sink.url)), await make('custom', replyingOf(sink.url))] as const;
    const webhook = await api.createWebhook(receiver.url);
    receiver.trust(webhook.signing_key);
    await api.subscribe(workflows[0].id, webhook.id);
    return new Scene(parts, inFlight, workflows);
  }

  /** Runs of the first workflow of which a caller was told and whose last emit has not come. */
  get unfinished(): number {
    const { accepted } = this.parts.receiver;
    for (const { body } of accepted.slice(this.read)) this.emitted.add((body as EmittedBody).run);
    this.read = accepted.length;
    return [...this.acknowledged].filter((id) => !this.replies.has(id) && !this.emitted.has(id)).length;
  }

  start(): void {
    for (let n = 0; n < CLIENTS; n++)
      this.tasks.push(
        this.untilStopped(
          () => this.sending,
          () => this.hit(),
        ),
      );
    this.tasks.push(
      this.untilStopped(
        () => this.steering,
        () => this.resumeAll(),
      ),
    );
    this.tasks.push(
      this.untilStopped(
        () => this.sending,
        () => this.look(),
      ),
    );
  }

  /** Resolves once every run has ended, with the server up. */
  async stop(): Promise<void> {
    this.sending = false;
    await eventually(
      'every run has ended',
      async () => ((await this.totalOf('queued,running,waiting')) === 0 ? true : undefined),
      END_TIMEOUT_MS,
      500,
    ).catch((error: unknown) => void this.problems.push(String(error)));
    this.steering = false;
    await Promise.all(this.tasks);
  }

  /** Ends the load after a failure. Its clients find the server gone, and end. */
  abandon(): void {
    this.sending = this.steering = false;
    this.gate.open();
  }

  async report(kills: number): Promise<WorkflowKillReport> {
    const { sink } = this.parts;
    const emits = await this.emits();
    const records = await this.allRuns();
    for (const id of this.acknowledged) if (!records.has(id)) this.problems.push(`${id} was begun and is not there`);
    for (const run of records.values()) {
      const replied = this.replies.get(run.id);
      if (replied !== undefined) this.outcomes.set(`${run.id} answer`, replied);
      this.problems.push(...problemsOfRun(run, sink, emits.get(run.id) ?? []), ...this.changesOf(run));
    }
    const effects = [...sink.effects.values()].flat();
    const executions = new Set(effects.map(({ run, step, runs, key }) => `${run} ${step} ${runs} ${key}`));
    return {
      kills,
      acknowledged: this.acknowledged.size,
      resumed: this.resumed.size,
      replies: this.replies.size,
      executions: effects.length,
      repeats: effects.length - executions.size,
      messages: [...sink.messages.values()].flat().length,
      problems: this.problems,
    };
  }

  private async untilStopped(goesOn: () => boolean, act: () => Promise<void>): Promise<void> {
    while (goesOn()) {
      await this.gate.pass();
      try {
        await act();
      } catch (error) {
        // A killed process gives no answer.
        if (!types.isNativeError(error)) throw error;
        await pause(20);
      }
    }
  }

  private async hit(): Promise<void> {
    if (this.unfinished >= this.inFlight) return pause(20);
    const n = ++this.hits;
    const workflow = this.workflows[n % 8 === 0 ? 1 : 0];
    const { server } = this.parts;
    const url = server.url + new URL(workflow.triggers[0]?.endpoint_url ?? '').pathname;
    const { status, headers, text } = await send(url, { body: { n } });
    const id = headers['x-sluice-run-id'];
    if (typeof id !== 'string') return pause(20);
    if (status === 201) {
      const { run, value, immediate } = JSON.parse(text) as Reply;
      if (run !== id) this.problems.push(`${id} was answered by ${run}`);
      // An immediate reply leaves before the outcome of its step is stored, so a crash may come between.
      this.replies.set(id, immediate ? undefined : value);
    } else if (workflow === this.workflows[1]) return;
    this.acknowledged.add(id);
  }

  private async resumeAll(): Promise<void> {
    const { api } = this.parts;
    const query = { state: 'waiting', limit: '100' };
    const { data } = await api.expect<Paged<RunRecord>>(200, 'GET', `/v1/workflows/${this.workflows[0].id}/runs`, {
      query,
    });
    for (const { id, waiting } of data) {
      if (waiting?.kind !== 'suspend') continue;
      const { status } = await api.call('POST', `/v1/runs/${id}/resume`, { body: { data: { id } } });
      if (status === 200) this.resumed.add(id);
    }
    await pause(200);
  }

  /** Remembers the outcomes of some runs. */
  private async look(): Promise<void> {
    const ids = [...this.acknowledged];
    const id = ids[Math.floor(Math.random() * ids.length)];
    await pause(10);
    if (id === undefined) return;
    const { status, body } = await this.parts.api.call<Data<RunRecord>>('GET', `/v1/runs/${id}`);
    if (status !== 200) return;
    this.problems.push(...this.changesOf(body.data));
    for (const step of body.data.steps) {
      if (step.state !== 'succeeded') continue;
      this.outcomes.set(`${id} ${step.namespace}`, valueOf(step));
      this.seenAs.set(`${id} ${step.namespace}`, JSON.stringify(body.data));
    }
  }

  private changesOf(run: RunRecord): readonly string[] {
    const { id, steps } = run;
    return steps.flatMap((step) => {
      const was = this.outcomes.get(`${id} ${step.namespace}`);
      const is = valueOf(step);
      return was === undefined || was === is
        ? []
        : [
            `${id} had ${JSON.stringify(was)} of ${step.namespace}, and now has ${JSON.stringify(is)}: the record was ` +
              `${this.seenAs.get(`${id} ${step.namespace}`) ?? 'a reply'} and is ${JSON.stringify(run)}`,
          ];
    });
  }

  private async totalOf(state: string): Promise<number> {
    const query = { state, limit: '1' };
    const pages = this.workflows.map(({ id }) =>
      this.parts.api.expect<Paged<RunRecord>>(200, 'GET', `/v1/workflows/${id}/runs`, { query }),
    );
    return (await Promise.all(pages)).reduce((sum, { page_info: { total_count: count } }) => sum + count, 0);
  }

  private async allRuns(): Promise<ReadonlyMap<string, RunRecord>> {
    const { api } = this.parts;
    const runs = new Map<string, RunRecord>();
    for (const { id: workflow } of this.workflows) {
      let after: string | null = null;
      do {
        const query: Record<string, string> = { limit: '100', ...(after === null ? {} : { after }) };
        const page: Paged<RunRecord> = await api.expect(200, 'GET', `/v1/workflows/${workflow}/runs`, { query });
        const whole = page.data.map(({ id }) => api.expect<Data<RunRecord>>(200, 'GET', `/v1/runs/${id}`));
        for (const { data } of await Promise.all(whole)) runs.set(data.id, data);
        after = page.data.length < 100 ? null : page.page_info.end_cursor;
      } while (after !== null);
    }
    return runs;
  }

  /** The emits of each run, once each acknowledged run has one. */
  private async emits(): Promise<ReadonlyMap<string, readonly EmitOfRun[]>> {
    const { receiver } = this.parts;
    const all = (): ReadonlyMap<string, readonly EmitOfRun[]> => {
      const emits = new Map<string, EmitOfRun[]>();
      for (const { webhookId, body } of receiver.accepted) {
        const { run, seen } = body as EmittedBody;
        emits.set(run, [...(emits.get(run) ?? []), { webhookId, seen }]);
      }
      return emits;
    };
    const expected = this.acknowledged.size - this.replies.size;
    await eventually('each run has emitted', () => (all().size >= expected ? true : undefined), 60_000, 200).catch(
      (error: unknown) => void this.problems.push(String(error)),
    );
    return all();
  }
}
