import { type HookName } from '../component-model/hooks.js';
import { type RunOutcome } from '../sandbox/sandbox.js';
import { type SourceDefinition } from '../sources/published.js';
import { type DefinitionOverride } from './definition-override.js';
import { type Invocation } from './run-commit.js';
import { type RunCommitter } from './run-committer.js';
import { warnedOfHookReply } from './reply-warnings.js';
import { executionOf } from './run-result.js';
import { type SourceRunnerDependencies } from './runner-ports.js';
import { type SourceProcess } from './source-process.js';

/** One call of a source's hook. */
export interface HookCall {
  readonly hook: HookName;
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
   * Resolves once the hook's emits and db changes are durable. Rejects when the platform failed or this process lost the
   * source.
   *
   * @param invocation record of the lane that brought the call, done with the same commit.
   */
  async run(call: HookCall, invocation?: Invocation): Promise<RunOutcome> {
    const { sourceId, deps, process, override, committer } = this.options;
    const { hook, definition, workspaceId, executionId, timeoutMs } = call;
    const hookEnded = override.begin(definition);
    let outcome: RunOutcome;
    try {
      outcome = warnedOfHookReply(await process.hook(workspaceId, definition, hook, timeoutMs), hook);
    } finally {
      hookEnded(deps.clock.now());
    }
    const emits = hook !== 'deploy' || definition.emitOnDeploy;
    const at = invocation?.record.timestamp;
    const execution = { ...executionOf(sourceId, executionId, definition, workspaceId, at), hook, emits };
    await new Promise<void>((committed, abandoned) => {
      committer.push({ execution, outcome, invocation, committed, abandoned });
    });
    return outcome;
  }
}
