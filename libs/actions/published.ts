/** Published contract of the actions context: the port through which an action runs. */
import { type ActionAnswer } from '#libs/component-model/action-run.js';
import { type LogLine, type UserError } from '#libs/component-model/run-output.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type ConfiguredAction, type SourceDefinition } from '#libs/sources/published.js';

export interface ActionRunRequest {
  readonly runId: string;
  readonly workspaceId: string;
  readonly definition: SourceDefinition;
  /** Texts of the secrets that the definition refers to. */
  readonly secrets: readonly { readonly ref: string; readonly text: string }[];
}

export interface ActionOutcome {
  readonly status: 'ok' | 'threw' | 'killed';
  /** Set unless the status is `ok`. */
  readonly error?: UserError;
  readonly logs: readonly LogLine[];
  readonly answer: ActionAnswer;
  readonly endedAt: number;
}

/** Implemented by the runner. */
export interface ActionRunner {
  /**
   * Runs an action once, in a jailed process that serves no other call at that time. Resolves with the outcome, even
   * when the action failed. Rejects with DomainError component.too_many_calls or component.calls_overloaded when too
   * many wait.
   */
  run(request: ActionRunRequest): Promise<ActionOutcome>;
}

export interface RanAction extends ActionOutcome {
  /** About the values that the caller gave. */
  readonly warnings: readonly Warning[];
}

/** Token under which ActionsModule provides its ActionRuns. */
export const ACTION_RUNS = Symbol('ActionRuns');

export interface ActionRuns {
  /** As `POST /v1/actions/run`, also for an action of the registry. Rejects as RunActionHandler. */
  run(componentId: string, configured: ConfiguredAction, context: CommandContext): Promise<RanAction>;
}
