import { Backoff } from '#libs/async/backoff.js';
import { bodyRangeOf } from '#libs/component-model/http-event.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { BundleNotLoaded, type RunOutcome, type Sandbox, SandboxGone } from '#libs/sandbox/index.js';
import { type SourceDefinition } from '#libs/sources/published.js';
import { type DefinitionOverride } from './definition-override.js';
import { type InFlightInvocations } from '../in-flight-invocations.js';
import { InvocationQueue } from '../invocation-queue.js';
import { type Invocation } from '../invocation.js';
import { type RunFinisher } from './run-finisher.js';
import { type RunnableSource, type SourceRunnerDependencies } from '../runner-ports.js';
import { failedToLoad, hostEnded } from './platform-outcomes.js';
import { SourcePause } from '../source-pause.js';
import { BegunRuns } from './begun-runs.js';
import { concurrencyOf, type SourceProcess } from './source-process.js';

/** Time to wait for the event log, per attempt, while a source is unknown. */
const FOLLOW_MS = 10_000;

export interface RunDispatcherOptions {
  readonly sourceId: string;
  readonly deps: SourceRunnerDependencies;
  readonly process: Pick<SourceProcess, 'sandboxFor'>;
  readonly override: DefinitionOverride;
  readonly finisher: RunFinisher;
  readonly invocations: Pick<InFlightInvocations, 'begin' | 'putBack'>;
  /** Called once when npm packages cannot be installed. It may be called again after a process has started. */
  readonly onPackagesMissing: (error: DomainError) => void;
  /** Called when the process has fewer runs than before. */
  readonly onRunEnded: () => void;
  /** True when no more runs may start. */
  readonly isClosed: () => boolean;
  /** Returns the offset of the invocation that must be done before more may start; undefined if there is none. */
  readonly heldBy: () => number | undefined;
}

/** Hands the queued invocations of one source to its process, in lane order and as many as the window allows. */
export class RunDispatcher {
  private readonly queue = new InvocationQueue();
  private readonly backoff = new Backoff({ firstMs: 100, longestMs: 10_000 });
  private readonly pause: SourcePause;
  private readonly begun: BegunRuns;
  private inFlight = 0;
  private dispatching = false;
  private toldOfPackages = false;

  constructor(private readonly options: RunDispatcherOptions) {
    const { sourceId, deps, invocations } = options;
    this.begun = new BegunRuns(invocations, deps.clock);
    this.pause = new SourcePause(
      () => deps.isPaused?.(sourceId) === true || this.waitsForOlder(),
      () => this.dispatch(),
    );
  }

  /** True when the process has no run. */
  get isIdle(): boolean {
    return this.inFlight === 0;
  }

  /** Queues an invocation from the end of the lane. `dispatch` starts it. */
  enqueue(invocation: Invocation): void {
    const absorbed = this.queue.add(invocation);
    if (absorbed) this.options.finisher.finishWithoutRun(absorbed);
  }

  /** Forgets the invocations that were not handed over. */
  clear(): void {
    this.queue.clear();
  }

  /** Starts to hand over queued invocations. Does nothing while that is under way, paused or closed. */
  dispatch(): void {
    if (this.dispatching || this.options.isClosed() || this.queue.size === 0 || this.pause.holds()) return;
    this.dispatching = true;
    void this.dispatchQueued().then(
      () => this.dispatchAgain(0),
      (error: unknown) => {
        // The platform failed, not the component: the dispatcher retries, and the records stay unacknowledged.
        if (!this.options.isClosed()) this.failedToStart(error);
        this.dispatchAgain(this.backoff.next());
      },
    );
  }

  private dispatchAgain(pauseMs: number): void {
    this.dispatching = false;
    if (!this.mayDispatch()) return;
    if (pauseMs === 0) this.dispatch();
    else setTimeout(() => this.dispatch(), pauseMs).unref();
  }

  private mayDispatch(): boolean {
    const { deps, isClosed } = this.options;
    return this.queue.size > 0 && this.inFlight < deps.settings.window && !isClosed();
  }

  /** Whether the invocation that must be done first is in flight. If it is still queued, it may start. */
  private waitsForOlder(): boolean {
    const offset = this.options.heldBy();
    return offset !== undefined && !this.queue.has(offset);
  }

  private async dispatchQueued(): Promise<void> {
    const { sourceId, deps, process, override, finisher } = this.options;
    while (this.mayDispatch()) {
      const source = deps.sources.find(sourceId) ?? (await this.findLater());
      const definition = override.current(deps.clock.now()) ?? source?.definition;
      if (!source || !definition) {
        for (const invocation of this.queue.clear()) finisher.finishWithoutRun(invocation);
        return;
      }
      let sandbox: Sandbox;
      try {
        sandbox = await process.sandboxFor(source.workspaceId, definition);
      } catch (error) {
        if (!(error instanceof BundleNotLoaded)) throw error;
        const outcome = failedToLoad(error.userError, deps.clock.now());
        const invocation = this.queue.shift();
        if (invocation) this.finish(invocation, definition, source.workspaceId, outcome);
        continue;
      }
      this.backoff.reset();
      this.toldOfPackages = false;
      await this.startQueued(sandbox, definition, source.workspaceId);
    }
  }

  /** Waits for the event log, because the lane may be ahead of what this process has read of the log. */
  private async findLater(): Promise<RunnableSource | undefined> {
    const { sourceId, deps } = this.options;
    await deps.follower.upToDate(FOLLOW_MS);
    return deps.sources.find(sourceId);
  }

  /** Hands over as many as may run at once. A suspect of killing the host runs alone, at its place in the lane. */
  private async startQueued(sandbox: Sandbox, definition: SourceDefinition, workspaceId: string): Promise<void> {
    const { hostDeaths, settings } = this.options.deps;
    const isSuspect = ({ headers }: Invocation): boolean => hostDeaths.isSuspect(headers.id);
    if (this.queue.first && isSuspect(this.queue.first)) return this.startAlone(sandbox, definition, workspaceId);
    const blocked = hostDeaths.blocked();
    if (blocked) return blocked;
    const free = sandbox.alive() ? settings.window - this.inFlight : 0;
    const batch = this.queue.shiftBatch(free, isSuspect);
    hostDeaths.begin(batch.map(({ headers }) => headers.id));
    for (const invocation of batch) this.start(invocation, sandbox, definition, workspaceId);
  }

  private async startAlone(sandbox: Sandbox, definition: SourceDefinition, workspaceId: string): Promise<void> {
    const { deps, isClosed, sourceId } = this.options;
    const { hostDeaths, clock } = deps;
    const invocation = this.queue.shift();
    if (!invocation) return;
    const { id } = invocation.headers;
    const deaths = hostDeaths.deathsOf(id);
    const verdict = await hostDeaths.alone(id);
    if (isClosed()) return hostDeaths.end(id);
    if (verdict === 'run') return this.start(invocation, sandbox, definition, workspaceId);
    const outcome = hostEnded(deaths, clock.now());
    deps.onGivenUp?.(sourceId, workspaceId, outcome.error?.message ?? '');
    this.finish(invocation, definition, workspaceId, outcome);
  }

  private start(invocation: Invocation, sandbox: Sandbox, definition: SourceDefinition, workspaceId: string): void {
    const { headers, record } = invocation;
    const { settings, replies } = this.options.deps;
    this.inFlight++;
    this.begun.handedOver(invocation, concurrencyOf(definition, settings));
    const timeoutMs = headers.kind === 'timer' ? settings.timerTimeoutMs : settings.httpTimeoutMs;
    const body = bodyRangeOf(record.value, headers.body);
    const request = { invocationId: headers.id, event: record.value, body, timeoutMs };
    sandbox
      .run(
        headers.respond === ''
          ? request
          : { ...request, onImmediateResponse: (reply) => replies.immediate(headers.respond, headers.id, reply) },
      )
      .then(
        (outcome) => this.finish(invocation, definition, workspaceId, outcome),
        (error: unknown) => this.putBack(invocation, error),
      )
      .finally(() => {
        this.inFlight--;
        this.begun.ended(invocation);
        this.options.onRunEnded();
        if (this.queue.size > 0) this.dispatch();
      });
  }

  /** Puts back an invocation that never started. */
  private putBack(invocation: Invocation, error: unknown): void {
    const { deps, isClosed } = this.options;
    const { id } = invocation.headers;
    deps.hostDeaths.end(id);
    this.options.invocations.putBack(invocation);
    if (isClosed()) return;
    if (!(error instanceof SandboxGone)) this.failed({ invocation: id, error: String(error) }, 'run.failed');
    this.queue.putBack(invocation);
  }

  private finish(invocation: Invocation, definition: SourceDefinition, workspaceId: string, outcome: RunOutcome): void {
    this.queue.runEnded(invocation);
    this.options.finisher.finish(invocation, definition, workspaceId, outcome);
  }

  private failedToStart(error: unknown): void {
    this.failed({ error: String(error) }, 'run.start_failed');
    if (!(error instanceof DomainError) || error.code !== 'component.package_unavailable' || this.toldOfPackages)
      return;
    this.toldOfPackages = true;
    this.options.onPackagesMissing(error);
  }

  private failed(fields: object, message: string): void {
    const { sourceId, deps } = this.options;
    deps.metrics.platformFailure();
    deps.logger.error({ source: sourceId, ...fields }, message);
  }
}
