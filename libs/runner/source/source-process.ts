import { SerialQueue } from '#libs/async/serial-queue.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import {
  userError,
  BundleNotLoaded,
  type RunOutcome,
  type Sandbox,
  SandboxGone,
  type SandboxSpec,
} from '#libs/sandbox/index.js';
import { propsOf, type SourceDefinition } from '#libs/sources/published.js';
import { type RunCommitter } from './run-committer.js';
import { type SourceRunnerDependencies } from '../runner-ports.js';
import { type ProcessCall } from '#libs/component-model/hooks.js';
import { secretsOf } from '../outcome/prop-secrets.js';
import { NO_SECRETS, SecretMask } from '../outcome/secret-mask.js';
import { fingerprint } from './definition-fingerprint.js';
import { failedToLoad, loggedOutcome } from './platform-outcomes.js';
import { type WaitingTold } from './waiting-told.js';

/** Returns how many runs of a source its process has at a time. */
export const concurrencyOf = (
  definition: SourceDefinition,
  settings: Pick<SourceRunnerDependencies['settings'], 'concurrency'>,
): number => (propsOf(definition, 'db').length > 0 ? 1 : settings.concurrency);

export interface SourceProcessOptions {
  readonly sourceId: string;
  readonly deps: Pick<
    SourceRunnerDependencies,
    'binder' | 'blobs' | 'packages' | 'clock' | 'logger' | 'metrics' | 'settings' | 'sandboxes'
  >;
  /** Has the last committed content of `$.service.db`, and knows whether this process still runs the source. */
  readonly committer: Pick<RunCommitter, 'abandonedFor' | 'state'>;
  readonly waiting: Pick<WaitingTold, 'tell'>;
  /** Resolves when nothing runs and everything is committed. */
  readonly untilIdle: () => Promise<void>;
  /** Receives log lines that code of this definition wrote after its run. */
  readonly onLate: (workspaceId: string, definition: SourceDefinition, outcome: RunOutcome) => void;
}

/** Sandbox process of one source, started on demand and bound to one definition at a time. */
export class SourceProcess {
  private boundTo: string | undefined;
  private boundVersion = '';
  private readonly switches = new SerialQueue();
  private secrets = NO_SECRETS;
  private latest: Sandbox | undefined;

  constructor(private readonly options: SourceProcessOptions) {}

  /** Mask of the secrets that the process was last started with. */
  get mask(): SecretMask {
    return this.secrets;
  }

  /**
   * First ends a process of another definition, once its runs are committed, so that the next one has all of the db.
   */
  sandboxFor(workspaceId: string, definition: SourceDefinition): Promise<Sandbox> {
    const { sourceId, deps, waiting, untilIdle } = this.options;
    const wanted = fingerprint(definition);
    return this.switches.run(async () => {
      const expired = deps.binder.freshen(workspaceId, definition);
      if (expired) await this.refreshed(expired);
      const version = deps.binder.versionOf(workspaceId, definition);
      if (this.boundTo !== wanted || this.boundVersion !== version) {
        await untilIdle();
        this.checkOwned();
        await this.end();
        this.boundTo = wanted;
        this.boundVersion = version;
      }
      this.checkOwned();
      const sandbox = await deps.sandboxes.acquire(sourceId, workspaceId, () => this.specFor(workspaceId, definition));
      this.latest = sandbox;
      const told = waiting.tell(sandbox);
      if (told) await told;
      return sandbox;
    });
  }

  /** Runs a hook in a process of this definition. Retries when the process died before the hook started. */
  async hook(
    workspaceId: string,
    definition: SourceDefinition,
    hook: ProcessCall,
    timeoutMs: number,
  ): Promise<RunOutcome> {
    for (let attempt = 0; ; attempt++) {
      try {
        const sandbox = await this.sandboxFor(workspaceId, definition);
        return this.secrets.outcome(await sandbox.hook(hook, timeoutMs));
      } catch (error) {
        if (error instanceof BundleNotLoaded)
          return this.secrets.outcome(failedToLoad(error.userError, this.options.deps.clock.now()));
        if (!(error instanceof SandboxGone) || attempt >= 3) throw error;
      }
    }
  }

  /** Makes the process return the runs that it has not started. */
  drain(): void {
    this.latest?.drain();
  }

  /** Ends the process. The next run starts another one with the committed db. Idempotent. */
  async end(): Promise<void> {
    const { sourceId, deps } = this.options;
    await deps.sandboxes.drop(sourceId);
  }

  /** Ends the process without waiting, and logs a failure. */
  endSoon(): void {
    const { sourceId, deps } = this.options;
    this.end().catch((error: unknown) => {
      deps.metrics.platformFailure();
      deps.logger.error({ source: sourceId, error: String(error) }, 'sandbox.drop_failed');
    });
  }

  /** Passes on to the author the reason why a token was not refreshed. */
  private async refreshed(expired: Promise<void>): Promise<void> {
    try {
      await expired;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw new BundleNotLoaded(this.options.sourceId, userError('AccountNotRefreshed', error.message));
    }
  }

  private checkOwned(): void {
    const { abandonedFor } = this.options.committer;
    if (abandonedFor) throw abandonedFor;
  }

  private async specFor(workspaceId: string, definition: SourceDefinition): Promise<SandboxSpec> {
    const { sourceId, deps, committer, untilIdle, onLate } = this.options;
    await untilIdle();
    const props = await deps.binder.bind(workspaceId, definition);
    const mask = new SecretMask(secretsOf(definition, props));
    this.secrets = mask;
    return {
      sourceId,
      workspaceId,
      ...(definition.dynamicProps === undefined ? {} : { dynamicProps: definition.dynamicProps }),
      bundleFile: await deps.blobs.fileOf(definition.bundleHash),
      ...(definition.packages ? { packages: await deps.packages(workspaceId, definition.packages) } : {}),
      props,
      db: committer.state.db,
      concurrency: concurrencyOf(definition, deps.settings),
      onLate: (line) => onLate(workspaceId, definition, mask.outcome(loggedOutcome(line, deps.clock.now()))),
    };
  }
}
