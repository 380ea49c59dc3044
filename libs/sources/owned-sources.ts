import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { SourceDeletions } from './delete-source/source-deletions.js';
import { SourceDeployments } from './deploy-source/source-deployments.js';
import { idleSource, type SourceRecord } from './domain/source.js';
import { OWNER_CHANGES, type OwnerChanges } from './ports.js';
import { type OwnedSources, type OwnedSourcesChange, type PlannedSource, type WantedSource } from './published.js';
import { type SourceOperation } from './source-operation.js';
import { SourceOperations, type SourceResult } from './source-operations.js';
import { SourceRoom } from './source-room.js';
import { stepOf } from './step-of.js';
import { SourceUpdates } from './update-source/source-updates.js';
import { sameJson } from '#libs/kernel/same-json.js';

/** Longest wait until the subscription of a new source exists, because its timers may tick at once. */
const SUBSCRIBED_MS = 2_000;

interface TriggerOperation {
  readonly trigger: string;
  readonly operation: SourceOperation<Pick<SourceResult, 'position'>>;
  readonly isDeployment: boolean;
}

interface Step {
  readonly context: CommandContext;
  readonly workflowChange: string;
}

/** Changes the sources of a workflow together with it (docs/adr/0074). */
@Injectable()
export class SourcesOfWorkflows implements OwnedSources {
  constructor(
    private readonly operations: SourceOperations,
    private readonly deployments: SourceDeployments,
    private readonly updates: SourceUpdates,
    private readonly deletions: SourceDeletions,
    private readonly room: SourceRoom,
    @Inject(OWNER_CHANGES) private readonly owners: OwnerChanges,
  ) {}

  async plan(wanted: WantedSource, context: CommandContext): Promise<PlannedSource> {
    const { trigger, sourceId, component, props } = wanted;
    const bare = withoutPrecondition(context);
    if (wanted.isNew) {
      await this.room.check(context.workspaceId);
      const request = { sourceId, configuredProps: props, emitOnDeploy: true };
      const plan = await this.deployments.planned(component, request, bare);
      return { trigger, sourceId, definition: plan.definition, warnings: plan.warnings, isChanged: true, plan };
    }
    const source = await this.source(sourceId, bare);
    const planned = await this.updates.planned(keepingOnly(source, props), component, { configuredProps: props }, bare);
    const { definition, warnings, secrets } = planned;
    const isChanged = !sameJson(definition, source.definition);
    return {
      trigger,
      sourceId,
      definition,
      warnings,
      isChanged,
      plan: { kind: 'update', component, definition, secrets },
    };
  }

  async carryOut<T extends Pick<SourceResult, 'position'>>(
    change: OwnedSourcesChange,
    commit: (context: CommandContext) => Promise<T>,
  ): Promise<T> {
    const own = stepOf(change.context);
    const step = { context: withoutPrecondition(change.context), workflowChange: own.commandId };
    const started = await this.operationsOf(change, step);
    if (started.length === 0) return commit(own);
    const ids = started.map(({ operation }) => operation.sourceId);
    return this.alone(ids, async () => {
      await this.prepare(started, step);
      const result = await this.committed(change.workflowId, started, step, () => commit(own));
      const position = await this.finish(started, result.position);
      return position === undefined ? result : { ...result, position };
    });
  }

  private async operationsOf(change: OwnedSourcesChange, step: Step): Promise<readonly TriggerOperation[]> {
    const { workflowId, active, ignoreHookErrors } = change;
    const { context, workflowChange } = step;
    const found: TriggerOperation[] = [];
    for (const each of change.sources) {
      const { trigger, sourceId } = each;
      const plan = 'plan' in each && each.isChanged ? each.plan : undefined;
      if (plan?.kind === 'deployment') {
        const options = { active, owner: { workflowId, trigger }, workflowChange };
        found.push({
          trigger,
          isDeployment: true,
          operation: this.deployments.deployment(plan, options, context),
        });
        continue;
      }
      if (await this.isGone(sourceId, context)) continue;
      const source = await this.source(sourceId, context);
      if (plan === undefined && source.active === active) continue;
      const planned = plan ?? { definition: source.definition, secrets: [] };
      const options = { source, component: plan?.component, planned, active, ignoreHookErrors, workflowChange };
      found.push({ trigger, isDeployment: false, operation: this.updates.update(options, context) });
    }
    for (const { trigger, sourceId } of change.removed) {
      if (await this.isGone(sourceId, context)) continue;
      const options = { ignoreHookErrors, workflowChange };
      found.push({ trigger, isDeployment: false, operation: this.deletions.deletion(sourceId, options, context) });
    }
    return found;
  }

  /** A source that its workflow still names (docs/adr/0074) must not keep the workflow from being changed or deleted. */
  private async isGone(sourceId: string, { workspaceId }: CommandContext): Promise<boolean> {
    return (await this.operations.stateOf(sourceId, workspaceId)).status === 'gone';
  }

  private async source(sourceId: string, { workspaceId }: CommandContext): Promise<SourceRecord> {
    return idleSource(await this.operations.stateOf(sourceId, workspaceId), sourceId);
  }

  private alone<T>([first, ...others]: readonly string[], act: () => Promise<T>): Promise<T> {
    return first === undefined ? act() : this.operations.exclusively(first, () => this.alone(others, act));
  }

  /** Prepares all at once, so that the whole takes no longer than one operation may (composition/maintenance.ts). */
  private async prepare(started: readonly TriggerOperation[], step: Step): Promise<void> {
    const outcomes = await Promise.allSettled(started.map(({ operation }) => operation.prepare()));
    const failed = outcomes.findIndex(({ status }) => status === 'rejected');
    const outcome = outcomes[failed];
    try {
      if (outcome?.status === 'rejected') throw ofTrigger(outcome.reason, started[failed]?.trigger ?? '');
      await this.mustStillBePrepared(started, step);
    } catch (error) {
      await Promise.all(
        started.map(({ operation }, i) =>
          outcomes[i]?.status === 'rejected' ? operation.undo(error) : operation.revert(error),
        ),
      );
      throw error;
    }
  }

  /** Another process undoes operations that have run for too long, for example because this one stood still. */
  private async mustStillBePrepared(started: readonly TriggerOperation[], step: Step): Promise<void> {
    for (const { operation } of started) {
      const state = await this.operations.stateOf(operation.sourceId, step.context.workspaceId);
      if ('workflowChange' in state && state.workflowChange === step.workflowChange) continue;
      throw new DomainError(
        'source.busy',
        `the change of source ${operation.sourceId} was ended by another process: try again`,
        { id: operation.sourceId, status: state.status },
      );
    }
  }

  /** After a lost answer the log decides. If it cannot be read, the next start or maintenance ends the operations. */
  private async committed<T>(
    workflowId: string,
    started: readonly TriggerOperation[],
    { workflowChange }: Step,
    commit: () => Promise<T>,
  ): Promise<T> {
    try {
      return await commit();
    } catch (error) {
      const isRefused = error instanceof DomainError;
      const isMade = !isRefused && (await this.owners.isMade(workflowId, workflowChange));
      if (isMade) await this.finish(started, undefined);
      else await Promise.all(started.map(({ operation }) => operation.revert(error)));
      throw error;
    }
  }

  /** Resolves with the last position. What fails here is finished by the next start or maintenance. */
  private async finish(
    started: readonly TriggerOperation[],
    committedAt: SourceResult['position'],
  ): Promise<SourceResult['position']> {
    if (committedAt !== undefined && started.some(({ isDeployment }) => isDeployment))
      await this.operations.applied(committedAt, SUBSCRIBED_MS);
    let last = committedAt;
    for (const { operation } of started)
      await this.operations.bestEffort(operation.sourceId, 'finishing a change of a workflow', async () => {
        const { position } = await operation.finish();
        last = position ?? last;
      });
    return last;
  }
}

const ofTrigger = (error: unknown, trigger: string): unknown =>
  error instanceof DomainError ? new DomainError(error.code, error.message, { ...error.details, trigger }) : error;

/** `If-Match` is about the workflow. */
const withoutPrecondition = ({ precondition: _, ...context }: CommandContext): CommandContext => context;

/** A definition replaces the former one, so the source keeps no value that is not given. Endpoints keep their keys. */
const keepingOnly = (source: SourceRecord, given: Readonly<Record<string, unknown>>): SourceRecord => {
  const props = source.definition.props.filter(({ kind, prop }) => kind === 'http' || Object.hasOwn(given, prop));
  return { ...source, definition: { ...source.definition, props } };
};
