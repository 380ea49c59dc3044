import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  COMPONENT_CATALOG,
  type ComponentCatalog,
  type ComponentReference,
  type ResolvedComponent,
} from '#libs/components/published.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type ConfiguredProps } from '../domain/props.js';
import { checkNotStale, checkOwner, idleSource, type SourceRecord } from '../domain/source.js';
import { carriedOut } from '../source-operation.js';
import { SourceOperations, type SourceResult } from '../source-operations.js';
import { SourceUpdates } from './source-updates.js';

export interface UpdateSourceRequest {
  /** When absent, the code stays. */
  readonly reference?: ComponentReference;
  /** Builds the code again with the newest npm packages. */
  readonly refreshPackages?: boolean;
  readonly name?: string;
  /** Merged per key; null removes a value. */
  readonly configuredProps?: ConfiguredProps;
  readonly dynamicPropsId?: string;
  readonly active: boolean;
  readonly emitOnDeploy?: boolean;
  /** Continues even if the deactivate hook fails. */
  readonly ignoreHookErrors: boolean;
  /** The `updated_at` that the caller has read, in epoch seconds. */
  readonly ifUpdatedAt?: number;
}

export class UpdateSource extends Command<SourceResult> {
  constructor(
    readonly sourceId: string,
    readonly request: UpdateSourceRequest,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Changes code, props, name or state of a source. Throws source.busy, source.stale_update, source.owned_by_workflow,
 * source.hook_failed.
 */
@CommandHandler(UpdateSource)
export class UpdateSourceHandler implements ICommandHandler<UpdateSource> {
  constructor(
    private readonly operations: SourceOperations,
    private readonly updates: SourceUpdates,
    @Inject(COMPONENT_CATALOG) private readonly components: ComponentCatalog,
  ) {}

  execute({ sourceId, request, context }: UpdateSource): Promise<SourceResult> {
    return this.operations.exclusively(sourceId, () => this.run(sourceId, request, context));
  }

  private async run(sourceId: string, request: UpdateSourceRequest, context: CommandContext): Promise<SourceResult> {
    const { operations, updates } = this;

    // 1. Load the source. The start of the update checks it again; an early refusal saves fetching and saving code.
    const source = idleSource(await operations.stateOf(sourceId, context.workspaceId), sourceId);
    checkOwner(source, undefined);
    checkNotStale(source, request.ifUpdatedAt);
    const component = await this.componentOf(source, request, context);
    try {
      // 2. Plan the new definition.
      const { definition, secrets, ...told } = await updates.planned(source, component, request, context);
      const { name, active, ignoreHookErrors } = request;
      const options = { source, component, name, active, planned: { definition, secrets }, ignoreHookErrors };
      return { ...(await carriedOut(updates.update(options, context))), ...told };
    } finally {
      if (component) await operations.bestEffort(sourceId, 'releasing code', () => component.release());
    }
  }

  private async componentOf(
    source: SourceRecord,
    { reference, configuredProps, dynamicPropsId, refreshPackages = false }: UpdateSourceRequest,
    context: CommandContext,
  ): Promise<ResolvedComponent | undefined> {
    const wantedChange = reference ?? configuredProps ?? dynamicPropsId;
    if (wantedChange === undefined && !refreshPackages) return undefined;
    const wanted = reference ?? { componentId: source.definition.componentId };
    return this.components.resolve({ ...wanted, refreshPackages }, context);
  }
}
