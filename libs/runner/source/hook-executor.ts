import { NO_SAMPLE_EMIT, SAMPLE_EMIT, type ProcessCall } from '#libs/component-model/hooks.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { type SourceDefinition } from '#libs/sources/published.js';
import { type DefinitionOverride } from './definition-override.js';
import { type Invocation, timeOf } from '../invocation.js';
import { type RunCommitter } from './run-committer.js';
import { warnedOfHookReply } from '../outcome/reply-warnings.js';
import { executionOf, type Execution } from './run-result.js';
import { type SourceRunnerDependencies } from '../runner-ports.js';
import { type SourceProcess } from './source-process.js';

/** One call of a source's hook. */
export interface HookCall {
  readonly hook: ProcessCall;
  readonly definition: SourceDefinition;
  readonly workspaceId: string;
  readonly executionId: string;
  readonly timeoutMs: number;
}

export interface HookExecutorOptions {
  readonly sourceId: string;
  readonly deps: Pick<SourceRunnerDependencies, 'clock'>;
  readonly process: Pick<SourceProcess, 'hook'>;
  readonly override: DefinitionOverride;
  readonly committer: Pick<RunCommitter, 'push'>;
}

/** Runs hooks of one source, each with the definition of its call. */
export class HookExecutor {
  constructor(private readonly options: HookExecutorOptions) {}

  /**
   * Resolves once the hook's emits and db changes are durable. Rejects when the platform failed or this process lost
   * the source.
   *
   * @param invocation record of the lane that brought the call. The same commit makes it done.
   */
  async run(call: HookCall, invocation?: Invocation): Promise<RunOutcome> {
    const { deps, process, override, committer } = this.options;
    const { hook, definition, workspaceId, timeoutMs } = call;
    // A sample is not part of an operation, so runs keep the definition of the event log.
    const hookEnded = hook === SAMPLE_EMIT ? undefined : override.begin(definition);
    let outcome: RunOutcome;
    try {
      outcome = warnedOfHookReply(await process.hook(workspaceId, definition, hook, timeoutMs), hook);
    } finally {
      hookEnded?.(deps.clock.now());
    }
    const at = invocation && timeOf(invocation);
    const execution = this.executionOf(call, at);
    await new Promise<void>((done, abandoned) => {
      const committed = (): void => done();
      committer.push({ execution, outcome: keptOf(call, outcome), invocation, committed, abandoned });
    });
    return outcome;
  }

  private executionOf({ hook, definition, workspaceId, executionId }: HookCall, at: number | undefined): Execution {
    const execution = executionOf(this.options.sourceId, executionId, definition, workspaceId, at);
    if (hook === SAMPLE_EMIT) return { ...execution, test: true };
    return { ...execution, hook, emits: hook !== 'deploy' || definition.emitOnDeploy };
  }
}

/** Only the caller learns of a missing sample. It is no failure of the source, so `$errors` does not get it. */
const keptOf = ({ hook }: HookCall, { error, logs, ...outcome }: RunOutcome): RunOutcome =>
  hook === SAMPLE_EMIT && error?.code === NO_SAMPLE_EMIT
    ? { ...outcome, status: 'ok', logs: [] }
    : { ...outcome, logs, ...(error ? { error } : {}) };
