import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  COMPONENT_CATALOG,
  type ComponentCatalog,
  type ComponentReference,
  type ResolvedComponent,
} from '#libs/components/published.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type CommandResult } from '#libs/kernel/handle-command.js';
import { type SourceResult } from '../deploy-source/deploy-source.handler.js';
import { AppHookPlans } from '../app-hook-plans.js';
import { BoundDataStores } from '../bound-data-stores.js';
import { type ConfiguredProps, type PropPlan } from '../domain/props.js';
import {
  checkNotStale,
  deployedSource,
  idleSource,
  secretRefsOf,
  type SourceFace,
  type SourceRecord,
  type SourceState,
} from '../domain/source.js';
import { checkIsSource } from '../domain/source-definition.js';
import { sameJson } from '#libs/kernel/same-json.js';
import { failureOf } from '../failure-of.js';
import { type HookSession } from '../hook-session.js';
import { SourceDynamicProps } from '../source-dynamic-props.js';
import { SourceOperations } from '../source-operations.js';
import { newSlugOf, planDefinition, type PlannedDefinition } from './plan-update.js';

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

interface Update {
  readonly source: SourceRecord;
  /** Undefined when code and props stay. */
  readonly component: ResolvedComponent | undefined;
  readonly next: SourceFace;
  readonly secrets: PropPlan['secrets'];
  readonly ignoreHookErrors: boolean;
}

/**
 * Changes code, props, name or state of a source. See docs/reference/rest-api.md#source-update. Throws source.busy,
 * source.stale_update, source.hook_failed.
 */
@CommandHandler(UpdateSource)
export class UpdateSourceHandler implements ICommandHandler<UpdateSource> {
  constructor(
    private readonly operations: SourceOperations,
    private readonly dynamicProps: SourceDynamicProps,
    private readonly appHooks: AppHookPlans,
    private readonly dataStores: BoundDataStores,
    @Inject(COMPONENT_CATALOG) private readonly components: ComponentCatalog,
  ) {}

  execute({ sourceId, request, context }: UpdateSource): Promise<SourceResult> {
    return this.operations.exclusively(sourceId, () => this.run(sourceId, request, context));
  }

  private async run(sourceId: string, request: UpdateSourceRequest, context: CommandContext): Promise<SourceResult> {
    const { operations } = this;

    // 1. Load the source. The start of the update checks it again; an early refusal saves fetching and saving code.
    const source = idleSource(await operations.stateOf(sourceId, context.workspaceId), sourceId);
    checkNotStale(source, request.ifUpdatedAt);
    const component = await this.componentOf(source, request, context);
    try {
      return await this.updated(source, component, request, context);
    } finally {
      if (component) await operations.bestEffort(sourceId, 'releasing code', () => component.release());
    }
  }

  private async updated(
    source: SourceRecord,
    component: ResolvedComponent | undefined,
    request: UpdateSourceRequest,
    context: CommandContext,
  ): Promise<SourceResult> {
    // 2. Plan the new definition and 3. reserve its slug.
    const { definition, secrets, ...told } = await this.plan(source, component, request, context);
    const name = request.name ?? source.name;
    const nameSlug = await this.reserve(source, request.name, context);
    const next = { name, nameSlug, active: request.active, definition };
    const update = { source, component, next, secrets, ignoreHookErrors: request.ignoreHookErrors };

    // 4. Log the whole update, so that a crash can be undone. No event means that nothing changes.
    const { state, position, revision } = await this.start(update, context);
    if (state.status === 'deployed') {
      await component?.keep();
      const { workspaceId } = context;
      return { source: state.source, revision: Number(revision), workspaceId, position: undefined, ...told };
    }
    try {
      return { ...(await this.carryOut(update, position, context)), ...told };
    } catch (error) {
      await this.undo(update, error, context);
      throw error;
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

  private async plan(
    source: SourceRecord,
    component: ResolvedComponent | undefined,
    { configuredProps, dynamicPropsId, emitOnDeploy }: UpdateSourceRequest,
    context: CommandContext,
  ): Promise<PlannedDefinition> {
    if (!component) {
      const kept = emitOnDeploy ?? source.definition.emitOnDeploy;
      return { definition: { ...source.definition, emitOnDeploy: kept }, secrets: [], warnings: [] };
    }
    const { clock } = this.operations;
    const given = await this.operations.maskKnownSecrets(configuredProps ?? {}, source, context.workspaceId);
    checkIsSource(component);
    const { workspaceId } = context;
    const dynamicProps = await this.dynamicProps.of({ component, given, dynamicPropsId, workspaceId, source });
    const appOf = (id: string) => this.operations.accounts.find(id, workspaceId)?.app;
    const planned = planDefinition({ source, component, dynamicProps, given, emitOnDeploy, appOf, now: clock.now() });
    const { packageChanges } = component;
    const hooked = await this.appHooks.planned(planned.definition, { component, given, workspaceId, source });
    const definition = await this.dataStores.bound(hooked.definition, context);
    const warnings = [...hooked.warnings, ...planned.warnings];
    return { ...planned, definition, warnings, ...(packageChanges === undefined ? {} : { packageChanges }) };
  }

  private async reserve(source: SourceRecord, name: string | undefined, context: CommandContext): Promise<string> {
    const slug = newSlugOf(source, name);
    return slug === undefined ? source.nameSlug : this.operations.slugs.reserve(slug, source.sourceId, [], context);
  }

  private async start({ source, next }: Update, context: CommandContext): Promise<CommandResult<SourceState>> {
    const { operations } = this;
    const { sourceId, updatedAt: basedOn } = source;
    const command = { type: 'StartUpdate', next, basedOn, now: operations.clock.now() } as const;
    try {
      return await operations.decide(sourceId, command, context);
    } catch (error) {
      // Another operation was first. After any other failure the log may contain the event, and the next start will
      // find it.
      if (error instanceof DomainError) {
        await operations.bestEffort(sourceId, 'releasing a name slug', () =>
          this.releaseUnused(next, sourceId, context),
        );
      }
      throw error;
    }
  }

  private async releaseUnused(next: SourceFace, sourceId: string, context: CommandContext): Promise<void> {
    const state = await this.operations.stateOf(sourceId, context.workspaceId);
    const used = deployedSource(state)?.nameSlug === next.nameSlug;
    const wanted = state.status === 'updating' && state.next.nameSlug === next.nameSlug;
    if (!used && !wanted) await this.operations.slugs.release(next.nameSlug, sourceId, context);
  }

  private async carryOut(
    update: Update,
    startedAt: Position | undefined,
    context: CommandContext,
  ): Promise<Omit<SourceResult, 'warnings'>> {
    const { operations } = this;
    const { source, next } = update;
    const { sourceId } = source;
    const { workspaceId } = context;

    // 5. Store new secrets before a run needs them, and serve new endpoints before a hook registers them.
    await operations.storeSecrets(update.secrets, workspaceId);
    await operations.untilServed(next.definition, startedAt);

    // 6. Run deactivate with the old definition and activate with the new one.
    await this.runHooks(update, operations.hookSession(sourceId, workspaceId));

    // 7. Save inline code, which nothing refuses any more, and put the update in force.
    await update.component?.keep();
    const finish = { type: 'FinishUpdate', now: operations.clock.now() } as const;
    const { state, position, revision } = await operations.decide(sourceId, finish, context);
    const updated = deployedSource(state);
    if (!updated) throw new Error(`source ${sourceId} is ${state.status} after its update`);

    // 8. Remove what the update replaced.
    await operations.bestEffort(sourceId, 'removal of data that an update replaced', async () => {
      await operations.operationEnded(sourceId);
      await operations.deleteSecrets([...source.unusedSecrets, ...updated.unusedSecrets]);
      if (updated.nameSlug !== source.nameSlug) {
        await operations.slugs.release(source.nameSlug, sourceId, context);
      }
    });
    return { source: updated, revision: Number(revision), workspaceId, position };
  }

  private async runHooks({ source, next, ignoreHookErrors }: Update, hooks: HookSession): Promise<void> {
    // A new name alone runs no hooks.
    if (source.active === next.active && sameJson(source.definition, next.definition)) return;
    if (source.active) {
      const failure = await hooks.attempt(source.definition, 'deactivate');
      if (failure && !ignoreHookErrors) throw failure;
    }
    if (!next.active) return;
    const failure = await hooks.attempt(next.definition, 'activate');
    if (!failure) return;
    // Best effort, because the caller gets the failure of the new activate.
    if (source.active) await hooks.attempt(source.definition, 'activate');
    else await hooks.attempt(next.definition, 'deactivate');
    throw failure;
  }

  /** Restores the former source, and removes the slug and the secrets of the update. */
  private async undo({ source, next }: Update, error: unknown, context: CommandContext): Promise<void> {
    const { operations } = this;
    const { sourceId } = source;
    await operations.bestEffort(sourceId, 'undoing a failed update', async () => {
      const command = { type: 'FailUpdate', ...failureOf(error), now: operations.clock.now() } as const;
      const { state } = await operations.decide(sourceId, command, context);
      await operations.operationEnded(sourceId);
      // The log decides, because the update may have succeeded although its answer was lost.
      const used = deployedSource(state);
      const kept = used === undefined ? [] : secretRefsOf(used.definition);
      await operations.deleteSecrets(secretRefsOf(next.definition).filter((ref) => !kept.includes(ref)));
      if (next.nameSlug !== source.nameSlug && used?.nameSlug !== next.nameSlug) {
        await operations.slugs.release(next.nameSlug, sourceId, context);
      }
    });
  }
}
