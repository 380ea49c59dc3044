import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMPONENT_CATALOG, type ComponentCatalog, type DeployableComponent } from '#libs/components/published.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { type Warning } from '#libs/kernel/warning.js';
import {
  ACTION_PLANS,
  type ActionPlans,
  type ConfiguredAction,
  type SourceDefinition,
} from '#libs/sources/published.js';
import { ACTION_RUNNER } from '../ports.js';
import { type ActionRunner, type ActionRuns, type RanAction } from '../published.js';

export class RunAction extends Command<RanAction> {
  constructor(
    /** Id or key of the component. */
    readonly component: string,
    readonly configured: ConfiguredAction,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Runs an action of the caller's workspace once. Stores nothing, because no resource changes. Throws
 * component.not_found, component.not_an_action, source.invalid_prop, source.missing_prop,
 * component.additional_props_failed, component.dynamic_props_not_found.
 */
@CommandHandler(RunAction)
export class RunActionHandler implements ICommandHandler<RunAction>, ActionRuns {
  constructor(
    @Inject(COMPONENT_CATALOG) private readonly catalog: ComponentCatalog,
    @Inject(ACTION_PLANS) private readonly plans: ActionPlans,
    @Inject(ACTION_RUNNER) private readonly runner: ActionRunner,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  run(componentId: string, configured: ConfiguredAction, context: CommandContext): Promise<RanAction> {
    return this.execute(new RunAction(componentId, configured, context));
  }

  async execute({ component: id, configured, context }: RunAction): Promise<RanAction> {
    const reference = id.startsWith('sc_') ? { componentId: id } : { key: id };
    const component = await this.catalog.resolve(reference, context);
    checkIsAction(component);
    const now = this.clock.now();
    const { definition, secrets, warnings } = await this.plans.plan(component, configured, now, context);
    const { workspaceId } = context;
    const outcome = await this.runner.run({ runId: newId('act', now), workspaceId, definition, secrets });
    return { ...outcome, warnings: [...warnings, ...dbWarnings(definition)] };
  }
}

const dbWarnings = ({ props }: SourceDefinition): readonly Warning[] =>
  props.flatMap(({ kind, prop }) => (kind === 'db' ? [dbWarning(prop)] : []));

const dbWarning = (prop: string): Warning => ({
  code: 'db_dropped',
  message: `prop "${prop}": $.service.db is empty in a single run, and what the run sets is dropped; only a step of a workflow keeps it`,
  path: `configured_props.${prop}`,
});

const checkIsAction = ({ id, name, kind }: DeployableComponent): void => {
  if (kind === 'action') return;
  throw new DomainError(
    'component.not_an_action',
    `component ${id} (${name}) is a source: deploy it with POST /v1/sources; only a component of type action can be run singly`,
    { id, expected: 'action', actual: kind },
  );
};
