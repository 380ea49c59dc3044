import { type SourceDefinition } from '../sources/published.js';
import { type SourceRunnerDependencies } from './runner-ports.js';
import {
  type BoundProp,
  BundleNotLoaded,
  type RunOutcome,
  type Sandbox,
  SandboxGone,
  type SandboxSpec,
} from '../sandbox/sandbox.js';
import { type HookName } from '../component-model/hooks.js';
import { NO_SECRETS, SecretMask } from './secret-mask.js';
import { failedToLoad, fingerprint } from './source-definition.js';

export interface SourceProcessOptions {
  readonly sourceId: string;
  readonly deps: Pick<SourceRunnerDependencies, 'binder' | 'blobs' | 'clock' | 'settings' | 'sandboxes'>;
  /** Last committed content of `$.service.db`. */
  readonly db: () => Readonly<Record<string, string>>;
  /** Resolves when nothing runs and nothing is uncommitted. */
  readonly untilQuiet: () => Promise<void>;
  /** Reason why this process runs the source no more; undefined while it does. */
  readonly abandoned: () => Error | undefined;
}

/** Sandbox process of one source, bound to one definition at a time and started on demand. */
export class SourceProcess {
  private boundTo: string | undefined;
  private switching: Promise<unknown> = Promise.resolve();
  private secrets = NO_SECRETS;
  private latest: Sandbox | undefined;

  constructor(private readonly options: SourceProcessOptions) {}

  /** Mask of the secrets that the process was last started with. */
  get mask(): SecretMask {
    return this.secrets;
  }

  /** Ends a process of another definition first, once its runs are committed, so the next one gets the complete db. */
  async sandboxFor(workspaceId: string, definition: SourceDefinition): Promise<Sandbox> {
    const { sourceId, deps, untilQuiet } = this.options;
    const wanted = fingerprint(definition);
    const turn = this.switching.then(async () => {
      if (this.boundTo !== wanted) {
        await untilQuiet();
        this.checkOwned();
        await deps.sandboxes.drop(sourceId);
        this.boundTo = wanted;
      }
      this.checkOwned();
      this.latest = await deps.sandboxes.acquire(sourceId, workspaceId, () => this.specFor(workspaceId, definition));
      return this.latest;
    });
    this.switching = turn.catch(() => undefined);
    return turn;
  }

  /** Runs a hook in a process of this definition. Retries when the process was gone before the hook started. */
  async hook(
    workspaceId: string,
    definition: SourceDefinition,
    hook: HookName,
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

  /** Makes the process give back the runs that it has not started. */
  drain(): void {
    this.latest?.drain();
  }

  private checkOwned(): void {
    const abandoned = this.options.abandoned();
    if (abandoned) throw abandoned;
  }

  private async specFor(workspaceId: string, definition: SourceDefinition): Promise<SandboxSpec> {
    const { sourceId, deps, db, untilQuiet } = this.options;
    await untilQuiet();
    const props = await deps.binder.bind(workspaceId, definition);
    this.secrets = new SecretMask(secretsOf(definition, props));
    return {
      sourceId,
      workspaceId,
      bundleFile: await deps.blobs.fileOf(definition.bundleHash),
      props,
      db: db(),
      concurrency: definition.dbProps.length > 0 ? 1 : deps.settings.concurrency,
    };
  }
}

const secretsOf = (
  { endpoints, values }: SourceDefinition,
  props: Readonly<Record<string, BoundProp>>,
): readonly string[] => {
  const secrets = endpoints.map(({ key }) => key);
  for (const [name, configured] of Object.entries(values)) {
    const bound = props[name];
    if ('secretRef' in configured && bound?.kind === 'value' && typeof bound.value === 'string')
      secrets.push(bound.value);
  }
  return secrets;
};
