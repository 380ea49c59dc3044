import { type SourceDefinition } from '../sources/published.js';
import { EventIds } from './emit-ids.js';
import { LaneTracker } from './lane-tracker.js';
import { buildCommit, type CommitContext, type Finished, type Invocation, REPEATABLE } from './run-commit.js';
import { type RunCommit, type SourceState, StateConflict } from './run-journal.js';
import { type SourceRunnerDependencies } from './runner-ports.js';
import { type HookName, type RunOutcome, type Sandbox, SandboxGone, type SandboxSpec } from './sandbox.js';
import { failedToLoad, fingerprint, userErrorOf } from './source-definition.js';
import { type Execution } from './settle-run.js';

const COMMIT_BATCH = 256;
const RETRY_MS = [100, 300, 1_000, 3_000, 10_000];

/**
 * One source in this process: its queue, its sandbox, and its state. Invocations start in lane order; what they left
 * is committed in the order in which they ended, many in one commit, and only then acknowledged.
 */
export class SourceRunner {
  private readonly queue: Invocation[] = [];
  private readonly finished: Finished[] = [];
  private inFlight = 0;
  private pumping = false;
  private committing = false;
  private closed = false;
  private attempts = 0;
  private override: SourceDefinition | undefined;
  private boundTo: string | undefined;
  private switching: Promise<unknown> = Promise.resolve();
  private quiet: (() => void)[] = [];
  private readonly ticks = new Map<string, { running: boolean; pending: Invocation | undefined }>();

  private constructor(
    readonly sourceId: string,
    private readonly deps: SourceRunnerDependencies,
    private state: SourceState,
    private tracker: LaneTracker,
    private eventIds: EventIds,
  ) {}

  static async load(sourceId: string, deps: SourceRunnerDependencies): Promise<SourceRunner> {
    const state = await deps.journal.load(sourceId);
    return new SourceRunner(sourceId, deps, state, new LaneTracker(state.progress), new EventIds(state.lastEventId));
  }

  /** True when nothing of it is queued, running or uncommitted. */
  idle(): boolean {
    return (
      this.queue.length === 0 && this.inFlight === 0 && this.finished.length === 0 && !this.committing && !this.override
    );
  }

  /** Takes invocations in lane order. Those done before are acknowledged at once. */
  async accept(invocations: readonly Invocation[]): Promise<void> {
    const fresh: Invocation[] = [];
    for (const invocation of invocations) {
      const { offset } = invocation.record;
      if (this.tracker.take(offset)) fresh.push(invocation);
      else if (this.tracker.isDone(offset)) invocation.ack();
    }
    const repeatable = fresh.filter((i) => REPEATABLE.has(i.headers.kind)).map((i) => i.headers.id);
    const seen = repeatable.length > 0 ? await this.deps.journal.seen(this.sourceId, repeatable) : new Set<string>();
    for (const invocation of fresh) {
      if (seen.has(invocation.headers.id)) this.finishWithoutRun(invocation);
      else if (invocation.headers.kind === 'timer') this.acceptTick(invocation);
      else this.queue.push(invocation);
    }
    this.pump();
  }

  /** Runs one hook with the definition given; resolves once what it emitted and stored is durable. */
  async hook(
    hook: HookName,
    definition: SourceDefinition,
    workspaceId: string,
    executionId: string,
  ): Promise<RunOutcome> {
    this.override = definition;
    const outcome = await this.attempt(workspaceId, definition, (sandbox) =>
      sandbox.hook(hook, this.deps.settings.hookTimeoutMs),
    );
    const emits = hook !== 'deploy' || definition.emitOnDeploy;
    const execution = { ...this.executionOf(executionId, definition, workspaceId), hook, emits };
    await new Promise<void>((committed) => {
      this.finished.push({ execution, outcome, invocation: undefined, committed });
      this.commit();
    });
    return outcome;
  }

  /** The event log's definition is in force again. */
  settled(): void {
    this.override = undefined;
    this.pump();
  }

  /** Stops taking and waits until what runs is committed; what was not started stays in the log. */
  async close(): Promise<void> {
    this.closed = true;
    this.queue.length = 0;
    await this.untilQuiet();
    await this.deps.sandboxes.drop(this.sourceId);
  }

  /** One tick of a timer runs at a time; those that come meanwhile are one (decisions.md 2.6). */
  private acceptTick(invocation: Invocation): void {
    const tick = this.ticks.get(invocation.headers.prop) ?? { running: false, pending: undefined };
    this.ticks.set(invocation.headers.prop, tick);
    if (!tick.running) {
      tick.running = true;
      this.queue.push(invocation);
      return;
    }
    if (tick.pending) this.finishWithoutRun(tick.pending);
    tick.pending = invocation;
  }

  private tickEnded(prop: string): void {
    const tick = this.ticks.get(prop);
    if (!tick) return;
    if (tick.pending) this.queue.push(tick.pending);
    else tick.running = false;
    tick.pending = undefined;
  }

  /** Hands queued invocations to the sandbox, in order, as long as the window allows. */
  private pump(): void {
    if (this.pumping) return;
    this.pumping = true;
    void this.pumpQueue().then(
      () => this.pumpAgain(0),
      (error: unknown) => {
        // The platform failed, not the component: again, with a pause that grows; the records stay unacknowledged.
        this.deps.metrics.platformFailure();
        this.deps.logger.error({ source: this.sourceId, error: String(error) }, 'run.start_failed');
        this.pumpAgain(RETRY_MS[Math.min(this.attempts++, RETRY_MS.length - 1)] ?? 0);
      },
    );
  }

  private pumpAgain(pauseMs: number): void {
    this.pumping = false;
    if (this.queue.length === 0 || this.inFlight >= this.deps.settings.window || this.closed) return;
    if (pauseMs === 0) this.pump();
    else setTimeout(() => this.pump(), pauseMs).unref();
  }

  private async pumpQueue(): Promise<void> {
    while (this.queue.length > 0 && this.inFlight < this.deps.settings.window && !this.closed) {
      const source = this.deps.sources.find(this.sourceId);
      const definition = this.override ?? source?.definition;
      if (!source || !definition) {
        for (const invocation of this.queue.splice(0)) this.finishWithoutRun(invocation);
        return;
      }
      let sandbox: Sandbox;
      try {
        sandbox = await this.sandboxFor(source.workspaceId, definition);
      } catch (error) {
        const userError = userErrorOf(error);
        if (!userError) throw error;
        const invocation = this.queue.shift();
        if (invocation)
          this.finish(invocation, definition, source.workspaceId, failedToLoad(userError, this.deps.clock.now()));
        continue;
      }
      this.attempts = 0;
      while (this.queue.length > 0 && this.inFlight < this.deps.settings.window && sandbox.alive()) {
        this.start(this.queue.shift() as Invocation, sandbox, definition, source.workspaceId);
      }
    }
  }

  private start(invocation: Invocation, sandbox: Sandbox, definition: SourceDefinition, workspaceId: string): void {
    const { headers, record } = invocation;
    const { settings, replies } = this.deps;
    this.inFlight++;
    const timeoutMs = headers.kind === 'timer' ? settings.timerTimeoutMs : settings.httpTimeoutMs;
    const request = { invocationId: headers.id, event: record.value, timeoutMs };
    sandbox
      .run(
        headers.respond === '1'
          ? { ...request, onImmediateResponse: (reply) => replies.immediate(headers.id, reply) }
          : request,
      )
      .then(
        (outcome) => this.finish(invocation, definition, workspaceId, outcome),
        (error: unknown) => this.requeue(invocation, error),
      )
      .finally(() => {
        this.inFlight--;
        this.settleQuiet();
        if (this.queue.length > 0) this.pump();
      });
  }

  /** It never started: it keeps its place. */
  private requeue(invocation: Invocation, error: unknown): void {
    if (!(error instanceof SandboxGone)) {
      this.deps.logger.error(
        { source: this.sourceId, invocation: invocation.headers.id, error: String(error) },
        'run.failed',
      );
      this.deps.metrics.platformFailure();
    }
    const at = this.queue.findIndex((other) => other.record.offset > invocation.record.offset);
    this.queue.splice(at === -1 ? this.queue.length : at, 0, invocation);
  }

  private finish(invocation: Invocation, definition: SourceDefinition, workspaceId: string, outcome: RunOutcome): void {
    const { headers, record } = invocation;
    const execution: Execution = {
      ...this.executionOf(headers.id, definition, workspaceId),
      event: record.value,
      hops: Number(headers.hops),
    };
    this.deps.metrics.run(outcome.status, workspaceId, outcome.endedAt - outcome.startedAt);
    if (headers.kind === 'timer') this.tickEnded(headers.prop);
    const committed = (): void => {
      if (headers.respond === '1') this.deps.replies.ended(headers.id, outcome);
      invocation.ack();
    };
    this.finished.push({ execution, outcome, invocation, committed });
    this.commit();
  }

  private finishWithoutRun(invocation: Invocation): void {
    const execution = {
      id: invocation.headers.id,
      sourceId: this.sourceId,
      componentId: '',
      workspaceId: '',
      event: 'null',
      hops: 0,
      emits: false,
    };
    this.finished.push({ execution, outcome: undefined, invocation, committed: invocation.ack });
    this.commit();
  }

  private executionOf(id: string, definition: SourceDefinition, workspaceId: string): Execution {
    const { componentId } = definition;
    return { id, sourceId: this.sourceId, componentId, workspaceId, event: 'null', hops: 0, emits: true };
  }

  /** Commits what has ended, all that is there at once, while more of it ends meanwhile. */
  private commit(): void {
    if (this.committing) return;
    this.committing = true;
    void this.commitFinished()
      .catch((error: unknown) =>
        this.deps.logger.error({ source: this.sourceId, error: String(error) }, 'commit.failed'),
      )
      .finally(() => {
        this.committing = false;
        this.settleQuiet();
        if (this.finished.length > 0) this.commit();
      });
  }

  private async commitFinished(): Promise<void> {
    // One turn of the event loop gathers the outcomes that came in one frame.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.finished.length > 0) {
      const batch = this.finished.slice(0, COMMIT_BATCH);
      const { commit, next } = buildCommit(batch, this.commitContext());
      await this.write(commit);
      this.state = next;
      this.finished.splice(0, batch.length);
      for (const { committed } of batch) committed();
    }
  }

  private commitContext(): CommitContext {
    const { state, tracker, eventIds, deps, sourceId } = this;
    const strategy = (this.override ?? deps.sources.find(sourceId)?.definition)?.dedupe ?? null;
    return { sourceId, topic: deps.topics.emits(sourceId), strategy, state, tracker, eventIds, metrics: deps.metrics };
  }

  /** Writes until it is durable: a store that cannot write now is waited for, and nothing is acknowledged meanwhile. */
  private async write(commit: RunCommit): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.deps.journal.commit(commit);
      } catch (error) {
        if (error instanceof StateConflict) {
          // Another process owns this source: what ended here is not ours to record.
          this.closed = true;
          this.queue.length = 0;
          this.finished.length = 0;
          this.deps.onFatal(error);
          throw error;
        }
        this.deps.metrics.platformFailure();
        this.deps.logger.error({ source: this.sourceId, attempt, error: String(error) }, 'commit.retried');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]));
      }
    }
  }

  /** Runs `work` in a sandbox of this definition, again when the process was gone before it started. */
  private async attempt(
    workspaceId: string,
    definition: SourceDefinition,
    work: (sandbox: Sandbox) => Promise<RunOutcome>,
  ): Promise<RunOutcome> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work(await this.sandboxFor(workspaceId, definition));
      } catch (error) {
        const userError = userErrorOf(error);
        if (userError) return failedToLoad(userError, this.deps.clock.now());
        if (!(error instanceof SandboxGone) || attempt >= 3) throw error;
      }
    }
  }

  /** A process of another definition is ended first, once what it runs is committed: the db that follows is whole. */
  private async sandboxFor(workspaceId: string, definition: SourceDefinition): Promise<Sandbox> {
    const { sandboxes } = this.deps;
    const wanted = fingerprint(definition);
    const turn = this.switching.then(async () => {
      if (this.boundTo !== wanted) {
        await this.untilQuiet();
        await sandboxes.drop(this.sourceId);
        this.boundTo = wanted;
      }
      return sandboxes.acquire(this.sourceId, () => this.specFor(workspaceId, definition));
    });
    this.switching = turn.catch(() => undefined);
    return turn;
  }

  private async specFor(workspaceId: string, definition: SourceDefinition): Promise<SandboxSpec> {
    await this.untilQuiet();
    const { binder, blobs, settings } = this.deps;
    return {
      sourceId: this.sourceId,
      workspaceId,
      bundleFile: await blobs.fileOf(definition.bundleHash),
      props: await binder.bind(workspaceId, definition),
      db: this.state.db,
      concurrency: definition.dbProps.length > 0 ? 1 : settings.concurrency,
    };
  }

  private untilQuiet(): Promise<void> {
    return new Promise((resolve) => {
      this.quiet.push(resolve);
      this.settleQuiet();
    });
  }

  private settleQuiet(): void {
    if (this.inFlight > 0 || this.finished.length > 0 || this.committing) return;
    for (const resolve of this.quiet.splice(0)) resolve();
  }
}
