import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual, types } from 'node:util';
import { type ApiClient, type Data, type Paged } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { type TestServer } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { type WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { type EffectSink } from './effect-sink.js';
import { Gate } from './kill9-load.js';
import { BulkReplays } from './workflow-bulk-kills.js';
import { type EmitOfRun, problemsOfRun, type RunRecord, valueOf } from './workflow-kills-checks.js';
import { loopingOf, replyingOf, stepsOf, toolOf } from './workflow-steps.js';
import { ToolCalls } from './workflow-tool-kills.js';

const CLIENTS = 16;
const TOOL_CALLERS = 2;
const TOOL = 'post_twice';
const END_TIMEOUT_MS = 600_000;
/** The rounds show what is lost, and not what a slow machine does not do in time between two kills. */
const TIMEOUT_SECONDS = 900;
/** Rest after a look at a run, in lengths of that look. */
const LOOK_REST = 4;

export interface WorkflowKillReport {
  readonly kills: number;
  /** Runs whose callers were answered. */
  readonly acknowledged: number;
  readonly resumed: number;
  /** Replies of `$.respond` that reached their callers. */
  readonly replies: number;
  /** Bulk replays that were begun, and the runs that began with them. */
  readonly bulkReplays: number;
  readonly replayed: number;
  /** Answered calls of a tool. */
  readonly toolCalls: number;
  /** Executions of items of a `for_each`. */
  readonly items: number;
  /** Executions of steps, and how many of them were repeats. */
  readonly executions: number;
  readonly repeats: number;
  readonly messages: number;
  /** Empty when every rule held. */
  readonly problems: readonly string[];
}

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

type Workflows = Readonly<Record<'stepping' | 'replying' | 'looping' | 'tool', Workflow>>;

/** The workflows under load, and what is known of their runs. */
export class WorkflowKillScene {
  readonly gate = new Gate();
  /** Runs of which a caller was told. */
  readonly acknowledged = new Set<string>();
  private readonly replies = new Map<string, unknown>();
  private readonly resumed = new Set<string>();
  private readonly bulk: BulkReplays;
  private readonly tools: ToolCalls;
  /** Outcomes that were seen while the load ran. They must stay. */
  private readonly outcomes = new Map<string, unknown>();
  private readonly problems: string[] = [];
  /** When items were seen to have succeeded, by run and index, in monotonic milliseconds. They must not run again. */
  private readonly itemsSeen = new Map<string, number>();
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
    private readonly workflows: Workflows,
  ) {
    const rounds = { gate: this.gate, goesOn: () => this.steering };
    this.bulk = new BulkReplays(parts.api, workflows.looping.id, rounds);
    this.tools = new ToolCalls(parts.api, TOOL, rounds);
  }

  static async of(parts: Parts, inFlight: number): Promise<WorkflowKillScene> {
    const { api, receiver, sink } = parts;
    const make = async (name: string, trigger: object, steps: readonly unknown[]): Promise<Workflow> => {
      const settings = {
        timeout_seconds: TIMEOUT_SECONDS,
        concurrency: 200,
        data_retention: { runs: 1_000_000, days: 30 },
      };
      const body = { name: `killed, ${name}`, triggers: [trigger], steps, settings };
      return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body })).data;
    };
    const workflows = {
      stepping: await make('stepping', { type: 'http' }, stepsOf(sink.url)),
      replying: await make('replying', { type: 'http', response: 'custom' }, replyingOf(sink.url)),
      looping: await make('looping', { type: 'http' }, loopingOf(sink.url)),
      tool: await make('tool', { type: 'tool', name: TOOL, description: 'Posts twice' }, toolOf(sink.url)),
    };
    const webhook = await api.createWebhook(receiver.url);
    receiver.trust(webhook.signing_key);
    for (const { id } of [workflows.stepping, workflows.looping]) await api.subscribe(id, webhook.id);
    return new WorkflowKillScene(parts, inFlight, workflows);
  }

  /** Runs of which a caller was told, without a reply of their own, whose last emit has not come. */
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
    for (let n = 0; n < TOOL_CALLERS; n++)
      this.tasks.push(
        this.untilStopped(
          () => this.sending,
          () => this.tools.call(),
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

  /** Begins one beside the load. */
  beginBulkReplay(): void {
    this.bulk.begin((error) => void this.problems.push(String(error)));
  }

  /** Resolves once every call is answered, and every bulk replay and every run has ended, with the server up. */
  async stop(): Promise<void> {
    this.sending = false;
    await this.tools.ended();
    this.problems.push(...(await this.bulk.ended()));
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
    const records = await this.allRuns();
    const emits = await this.emits([...records.values()]);
    for (const id of this.acknowledged) if (!records.has(id)) this.problems.push(`${id} was begun and is not there`);
    for (const run of records.values()) {
      const replied = this.replies.get(run.id);
      if (replied !== undefined) this.outcomes.set(`${run.id} answer`, replied);
      this.problems.push(...problemsOfRun(run, sink, emits.get(run.id) ?? []), ...this.changesOf(run));
    }
    const { tool } = this.workflows;
    const ofTool = [...records.values()].filter(({ workflow_id: id }) => id === tool.id);
    this.problems.push(
      ...this.bulk.problemsOf(records.values()),
      ...this.tools.problemsOf(ofTool),
      ...this.repeatedItems(),
    );
    const effects = [...sink.effects.values()].flat();
    const executions = new Set(
      effects.map(({ run, step, runs, key, attempt }) => `${run} ${step} ${runs} ${key} ${attempt}`),
    );
    return {
      kills,
      acknowledged: this.acknowledged.size,
      resumed: this.resumed.size,
      replies: this.replies.size,
      bulkReplays: this.bulk.count,
      replayed: [...records.values()].filter(({ replay_of: of }) => of !== null).length,
      toolCalls: this.tools.count,
      items: effects.filter(({ item }) => item !== undefined).length,
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
    const { stepping, replying, looping } = this.workflows;
    const workflow = n % 8 === 0 ? replying : n % 8 === 4 ? looping : stepping;
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
    } else if (workflow === replying) return;
    this.acknowledged.add(id);
  }

  private async resumeAll(): Promise<void> {
    const { api } = this.parts;
    const query = { state: 'waiting', limit: '100' };
    const { data } = await api.expect<Paged<RunRecord>>(
      200,
      'GET',
      `/v1/workflows/${this.workflows.stepping.id}/runs`,
      {
        query,
      },
    );
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
    if (id === undefined) return pause(10);
    const began = performance.now();
    const { status, body } = await this.parts.api.call<Data<RunRecord>>('GET', `/v1/runs/${id}`);
    // The runs shall have most of the engines, however long a look takes.
    await pause(10 + LOOK_REST * (performance.now() - began));
    if (status !== 200) return;
    this.problems.push(...this.changesOf(body.data));
    for (const step of body.data.steps) {
      for (const { index, state } of step.items ?? [])
        if (state === 'succeeded' && !this.itemsSeen.has(`${id} ${index}`))
          this.itemsSeen.set(`${id} ${index}`, performance.now());
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
      return was === undefined || isDeepStrictEqual(was, is)
        ? []
        : [
            `${id} had ${JSON.stringify(was)} of ${step.namespace}, and now has ${JSON.stringify(is)}: the record was ` +
              `${this.seenAs.get(`${id} ${step.namespace}`) ?? 'a reply'} and is ${JSON.stringify(run)}`,
          ];
    });
  }

  private async totalOf(state: string): Promise<number> {
    const query = { state, limit: '1' };
    const pages = Object.values(this.workflows).map(({ id }) =>
      this.parts.api.expect<Paged<RunRecord>>(200, 'GET', `/v1/workflows/${id}/runs`, { query }),
    );
    return (await Promise.all(pages)).reduce((sum, { page_info: { total_count: count } }) => sum + count, 0);
  }

  private async allRuns(): Promise<ReadonlyMap<string, RunRecord>> {
    const { api } = this.parts;
    const runs = new Map<string, RunRecord>();
    for (const { id: workflow } of Object.values(this.workflows)) {
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

  /** Executions of items after their outcome was seen. */
  private repeatedItems(): readonly string[] {
    return [...this.parts.sink.effects.values()].flat().flatMap(({ run, item, at }) => {
      const seenAt = this.itemsSeen.get(`${run} ${item}`);
      return item === undefined || seenAt === undefined || at <= seenAt
        ? []
        : [`${run} ran item ${item} again, ${Math.round(at - seenAt)} ms after its outcome was seen`];
    });
  }

  /** The emits of each run, once each that ended with one has sent it. */
  private async emits(records: readonly RunRecord[]): Promise<ReadonlyMap<string, readonly EmitOfRun[]>> {
    const { receiver } = this.parts;
    const all = (): ReadonlyMap<string, readonly EmitOfRun[]> => {
      const emits = new Map<string, EmitOfRun[]>();
      for (const { webhookId, body } of receiver.accepted) {
        const { run, seen } = body as EmittedBody;
        emits.set(run, [...(emits.get(run) ?? []), { webhookId, seen }]);
      }
      return emits;
    };
    const expected = records.filter(({ steps }) => steps.at(-1)?.namespace === 'last').map(({ id }) => id);
    const haveAll = (): true | undefined => {
      const sent = all();
      return expected.every((id) => sent.has(id)) ? true : undefined;
    };
    await eventually('each run has emitted', haveAll, 60_000, 500).catch(
      (error: unknown) => void this.problems.push(String(error)),
    );
    return all();
  }
}
