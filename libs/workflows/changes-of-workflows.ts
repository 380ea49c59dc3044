import { Inject, Injectable } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { type Warning } from '#libs/kernel/warning.js';
import { OWNED_SOURCES, type OwnedSources, type OwnedSourcesChange } from '#libs/sources/published.js';
import { Deployments, isInForce, type PlannedVersion, type VersionInForce } from './deployments.js';
import { type Changes, workflowDecider, workflowNotFound, type WorkflowRecord } from './domain/workflow.js';
import { ExternalIds, externalIdTaken, stepOf } from './external-ids.js';
import { type SavedWorkflow, savedWorkflow } from './saved-workflow.js';
import { ownedSourcesOf } from './trigger-sources.js';

export interface WorkflowChange {
  readonly changes: Changes;
  /** The version to deploy. Undefined when the one in force stays. */
  readonly planned: PlannedVersion | undefined;
  readonly ignoreHookErrors: boolean;
  readonly warnings: readonly Warning[];
}

/** Carries out the changes of existing workflows, together with their own sources and their external ids. */
@Injectable()
export class ChangesOfWorkflows {
  constructor(
    private readonly deployments: Deployments,
    private readonly externalIds: ExternalIds,
    @Inject(OWNED_SOURCES) private readonly owned: OwnedSources,
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Reads the workflow, and refuses a request that was made from another revision before anything is stored for it. */
  async current(workflowId: string, context: CommandContext): Promise<WorkflowRecord> {
    const { status } = await this.externalIds.stateOf(workflowId, context.workspaceId);
    if (status !== 'exists') throw workflowNotFound(workflowId);
    const nothing = { type: 'Change', changes: {}, now: this.clock.now() } as const;
    const { state } = await this.handle(workflowDecider, workflowId, nothing, stepOf(context));
    if (state.status !== 'exists') throw workflowNotFound(workflowId);
    return state.workflow;
  }

  /** Throws workflow.busy, workflow.external_id_taken, source.hook_failed. */
  async carryOut(
    workflowId: string,
    { changes, planned: wanted, ignoreHookErrors, warnings }: WorkflowChange,
    before: VersionInForce,
    context: CommandContext,
  ): Promise<SavedWorkflow> {
    const { workflow, stored } = before;
    const planned = wanted === undefined || isInForce(wanted, before) ? undefined : wanted;
    const { externalId = workflow.externalId } = changes;
    if (externalId !== null && externalId !== workflow.externalId) {
      const holder = await this.externalIds.hold(externalId, workflowId, false, context);
      if (holder !== workflowId) throw externalIdTaken(externalId, holder);
    }
    const { workspaceId } = context;
    const saved = await this.owned.carryOut(
      { workflowId, ...sourcesAfter(workflow, planned, changes), ignoreHookErrors, context },
      async (step) => {
        if (planned) return this.deployed(workflowId, planned, changes, workflow, step);
        const command = { type: 'Change', changes, now: this.clock.now() } as const;
        const result = await this.handle(workflowDecider, workflowId, command, step);
        return savedWorkflow(result, { stored, warnings, workspaceId });
      },
    );
    if (workflow.externalId !== null && workflow.externalId !== externalId)
      await this.externalIds.release(workflow.externalId, workflowId, context);
    return saved;
  }

  private async deployed(
    workflowId: string,
    planned: PlannedVersion,
    changes: Changes,
    workflow: WorkflowRecord,
    step: CommandContext,
  ): Promise<SavedWorkflow> {
    const basedOn = workflow.deployed?.version ?? 0;
    const { deployment, stored } = await this.deployments.store(workflowId, basedOn + 1, planned, step);
    const command = { type: 'Deploy', deployment, basedOn, changes, now: this.clock.now() } as const;
    const result = await this.handle(workflowDecider, workflowId, command, step);
    return savedWorkflow(result, { stored, warnings: planned.warnings, workspaceId: step.workspaceId });
  }
}

/** The workflow's own sources after the change. */
const sourcesAfter = (
  workflow: WorkflowRecord,
  planned: PlannedVersion | undefined,
  { active = workflow.active }: Changes,
): Pick<OwnedSourcesChange, 'sources' | 'removed' | 'active'> => {
  const before = ownedSourcesOf(workflow);
  const { sources = before } = planned ?? {};
  const removed = before.filter((each) => !sources.some(({ sourceId }) => sourceId === each.sourceId));
  return { sources, removed, active };
};
