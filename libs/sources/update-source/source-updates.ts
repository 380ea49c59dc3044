import { Injectable } from '@nestjs/common';
import { type ResolvedComponent } from '#libs/components/published.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext, type CommandResult } from '#libs/kernel/handle-command.js';
import { sameJson } from '#libs/kernel/same-json.js';
import { AppHookPlans } from '../app-hook-plans.js';
import { BoundDataStores } from '../bound-data-stores.js';
import { type ConfiguredProps } from '../domain/props.js';
import {
  deployedSource,
  secretRefsOf,
  type SourceFace,
  type SourceRecord,
  type SourceState,
} from '../domain/source.js';
import { checkIsSource } from '../domain/source-definition.js';
import { failureOf } from '../failure-of.js';
import { type HookSession } from '../hook-session.js';
import { SourceDynamicProps } from '../source-dynamic-props.js';
import { type SourceOperation } from '../source-operation.js';
import { SourceOperations, type SourceResult } from '../source-operations.js';
import { newSlugOf, planDefinition, type PlannedDefinition } from './plan-update.js';

interface DefinitionRequest {
  /** Merged per key; null removes a value. */
  readonly configuredProps?: ConfiguredProps;
  readonly dynamicPropsId?: string;
  readonly emitOnDeploy?: boolean;
}

/** New code and props of a source. */
export interface UpdatePlan extends Pick<PlannedDefinition, 'definition' | 'secrets'> {
  readonly kind: 'update';
  readonly component: ResolvedComponent;
}

interface UpdateOptions {
  readonly source: SourceRecord;
  /** Undefined when code and props stay. */
  readonly component: ResolvedComponent | undefined;
  readonly name?: string | undefined;
  readonly active: boolean;
  readonly planned: Pick<PlannedDefinition, 'definition' | 'secrets'>;
  readonly ignoreHookErrors: boolean;
  readonly workflowChange?: string;
}

/** Changes sources. See docs/reference/rest-api.md#source-update. */
@Injectable()
export class SourceUpdates {
  constructor(
    private readonly operations: SourceOperations,
    private readonly dynamicProps: SourceDynamicProps,
    private readonly appHooks: AppHookPlans,
    private readonly dataStores: BoundDataStores,
  ) {}

  /** The definition after an update. Undefined `component` keeps code and props. */
  async planned(
    source: SourceRecord,
    component: ResolvedComponent | undefined,
    { configuredProps, dynamicPropsId, emitOnDeploy }: DefinitionRequest,
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

  update(options: UpdateOptions, context: CommandContext): SourceOperation<SourceResult> {
    return new Update(this.operations, options, context);
  }
}

class Update implements SourceOperation<SourceResult> {
  readonly sourceId: string;
  private next: SourceFace | undefined;
  private started: CommandResult<SourceState> | undefined;
  private hooksRan = false;

  constructor(
    private readonly operations: SourceOperations,
    private readonly options: UpdateOptions,
    private readonly context: CommandContext,
  ) {
    this.sourceId = options.source.sourceId;
  }

  async prepare(): Promise<void> {
    const { operations, context } = this;
    const { source, active, planned } = this.options;

    // 3. Reserve the slug.
    const { name = source.name } = this.options;
    const { definition } = planned;
    const nameSlug = await this.reserve(source, this.options.name);
    const next = { name, nameSlug, active, definition };
    this.next = next;

    // 4. Log the whole update, so that a crash can be undone. No event means that nothing changes.
    this.started = await this.start(source, next);
    if (this.started.state.status === 'deployed') return;

    // 5. Store new secrets before a run needs them, and serve new endpoints before a hook registers them.
    await operations.storeSecrets(planned.secrets, context.workspaceId);
    await operations.untilServed(definition, this.started.position);

    // 6. Run deactivate with the old definition and activate with the new one.
    await this.runHooks(source, next, operations.hookSession(this.sourceId, context.workspaceId));
  }

  async finish(): Promise<SourceResult> {
    const { operations, started, sourceId, context } = this;
    const { source, component } = this.options;

    // 7. Save inline code, which nothing refuses any more, and put the update in force.
    await component?.keep();
    if (!started) throw new Error(`an update of source ${sourceId} ends that did not begin`);
    if (started.state.status === 'deployed') return operations.resultOf(sourceId, started, context);
    const finish = { type: 'FinishUpdate', now: operations.clock.now() } as const;
    const result = operations.resultOf(sourceId, await operations.decide(sourceId, finish, context), context);

    // 8. Remove what the update replaced.
    const { source: updated } = result;
    await operations.bestEffort(sourceId, 'removal of data that an update replaced', async () => {
      await operations.operationEnded(sourceId);
      await operations.deleteSecrets([...source.unusedSecrets, ...updated.unusedSecrets]);
      if (updated.nameSlug !== source.nameSlug) {
        await operations.slugs.release(source.nameSlug, sourceId, context);
      }
    });
    return result;
  }

  /** Restores the former source, and removes the slug and the secrets of the update. */
  async undo(error: unknown): Promise<void> {
    const { operations, sourceId, next, context } = this;
    const { source } = this.options;
    if (!next || this.started?.state.status !== 'updating') return;
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

  async revert(error: unknown): Promise<void> {
    const { operations, sourceId, next, hooksRan, context } = this;
    const { source } = this.options;
    if (hooksRan && next)
      await operations.bestEffort(sourceId, 'hooks of the former source', async () => {
        const hooks = operations.hookSession(sourceId, context.workspaceId);
        if (next.active) await hooks.attempt(next.definition, 'deactivate');
        if (source.active) await hooks.attempt(source.definition, 'activate');
      });
    await this.undo(error);
  }

  private async reserve(source: SourceRecord, name: string | undefined): Promise<string> {
    const slug = newSlugOf(source, name);
    return slug === undefined
      ? source.nameSlug
      : this.operations.slugs.reserve(slug, source.sourceId, [], this.context);
  }

  private async start(source: SourceRecord, next: SourceFace): Promise<CommandResult<SourceState>> {
    const { operations, sourceId, context } = this;
    const { workflowChange } = this.options;
    const ofWorkflow = workflowChange === undefined ? {} : { workflowChange };
    const { updatedAt: basedOn } = source;
    const command = { type: 'StartUpdate', next, basedOn, now: operations.clock.now(), ...ofWorkflow } as const;
    try {
      return await operations.decide(sourceId, command, context);
    } catch (error) {
      // Another operation was first. After any other failure the log may contain the event, and the next start will
      // find it.
      if (error instanceof DomainError) {
        await operations.bestEffort(sourceId, 'releasing a name slug', () => this.releaseUnused(next));
      }
      throw error;
    }
  }

  private async releaseUnused(next: SourceFace): Promise<void> {
    const { operations, sourceId, context } = this;
    const state = await operations.stateOf(sourceId, context.workspaceId);
    const used = deployedSource(state)?.nameSlug === next.nameSlug;
    const wanted = state.status === 'updating' && state.next.nameSlug === next.nameSlug;
    if (!used && !wanted) await operations.slugs.release(next.nameSlug, sourceId, context);
  }

  private async runHooks(source: SourceRecord, next: SourceFace, hooks: HookSession): Promise<void> {
    // A new name alone runs no hooks.
    if (source.active === next.active && sameJson(source.definition, next.definition)) return;
    if (source.active) {
      const failure = await hooks.attempt(source.definition, 'deactivate');
      if (failure && !this.options.ignoreHookErrors) throw failure;
    }
    this.hooksRan = true;
    if (!next.active) return;
    const failure = await hooks.attempt(next.definition, 'activate');
    if (!failure) return;
    this.hooksRan = false;
    // Best effort, because the caller gets the failure of the new activate.
    if (source.active) await hooks.attempt(source.definition, 'activate');
    else await hooks.attempt(next.definition, 'deactivate');
    throw failure;
  }
}
