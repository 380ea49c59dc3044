import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMPONENT_CATALOG, type ComponentCatalog, type ComponentReference } from '#libs/components/published.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { carriedOut } from '../source-operation.js';
import { SourceOperations, type SourceResult } from '../source-operations.js';
import { SourceRoom } from '../source-room.js';
import { type DeploymentRequest, SourceDeployments } from './source-deployments.js';

export interface DeploySourceRequest extends Omit<DeploymentRequest, 'sourceId'> {
  readonly reference: ComponentReference;
}

export class DeploySource extends Command<SourceResult> {
  constructor(
    readonly request: DeploySourceRequest,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** Creates a source. Throws source.hook_failed, and the errors that refuse its component, props or name. */
@CommandHandler(DeploySource)
export class DeploySourceHandler implements ICommandHandler<DeploySource> {
  constructor(
    private readonly operations: SourceOperations,
    private readonly deployments: SourceDeployments,
    private readonly room: SourceRoom,
    @Inject(COMPONENT_CATALOG) private readonly components: ComponentCatalog,
  ) {}

  async execute({ request: { reference, ...request }, context }: DeploySource): Promise<SourceResult> {
    const { operations, deployments } = this;
    await this.room.check(context.workspaceId);

    // 1. Find the component, or check its code. 2. Plan the source.
    const component = await this.components.resolve(reference, context);
    try {
      const sourceId = newId('dc', operations.clock.now());
      const plan = await deployments.planned(component, { sourceId, ...request }, context);
      const result = await carriedOut(deployments.deployment(plan, { active: true }, context));
      const { packageChanges } = component;
      return { ...result, warnings: plan.warnings, ...(packageChanges === undefined ? {} : { packageChanges }) };
    } finally {
      await operations.bestEffort(component.id, 'releasing code', () => component.release());
    }
  }
}
