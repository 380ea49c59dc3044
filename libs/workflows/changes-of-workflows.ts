import { Inject, Injectable } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { type Warning } from '#libs/kernel/warning.js';
import { OWNED_SOURCES, type OwnedSources, type OwnedSourcesChange } from '#libs/sources/published.js';
import { Deployments, isSame, type PlannedVersion, type Present } from './deployments.js';
import {
  basisOf,
  type Changes,
  type Draft,
  workflowDecider,
  workflowNotFound,
  type WorkflowRecord,
} from './domain/workflow.js';
import { sameJson } from '#libs/kernel/same-json.js';
import { ExternalIds, externalIdTaken, stepOf } from './external-ids.js';
import { type SavedWorkflow, savedWorkflow } from './saved-workflow.js';
import { ownedSourcesOf } from './trigger-sources.js';

export interface WorkflowChange {
  readonly changes: Changes;
  /** The version to deploy. Undefined when the one in force stays. */
  readonly planned: PlannedVersion | undefined;
  readonly ignoreHookErrors: boolean;
  readonly warnings: readonly Warning[];
  /** The version to deploy is that of this draft. */
  readonly deploys?: string;
}

export interface DraftChange extends Pick<WorkflowChange, 'changes'> {
  readonly planned: PlannedVersion;
  readonly face: Draft['face'];
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
    change: WorkflowChange,
    { workflow, inForce }: Present,
    context: CommandContext,
  ): Promise<SavedWorkflow> {
    const { changes: given, planned: wanted, ignoreHookErrors, warnings, deploys } = change;
    const planned = wanted && inForce && isSame(wanted, inForce) ? undefined : wanted;
    // Its first deployment activates a workflow.
    const changes = planned && !inForce ? { active: true, ...given } : given;
    const { workflowId } = workflow;
    const { workspaceId } = context;
    const sources = sourcesAfter(workflow, planned, changes);
    return this.withExternalId(workflow, changes, context, () =>
      this.owned.carryOut({ workflowId, ...sources, ignoreHookErrors, context }, async (step) => {
        if (planned) return this.deployed(planned, changes, workflow, step);
        const command = { type: 'Change', changes, deploys, now: this.clock.now() } as const;
        const result = await this.handle(workflowDecider, workflowId, command, step);
        return savedWorkflow(result, { stored: inForce?.stored, warnings, workspaceId });
      }),
    );
  }

  /** Throws workflow.busy, workflow.external_id_taken. */
  async saveDraft(
    { changes, planned, face }: DraftChange,
    { workflow, draft: before }: Present,
    context: CommandContext,
  ): Promise<SavedWorkflow> {
    const { workflowId } = workflow;
    const { warnings } = planned;
    return this.withExternalId(workflow, changes, context, async () => {
      const of = { warnings, workspaceId: context.workspaceId, isDraft: true };
      const step = stepOf(context);
      if (before && isSame(planned, before) && sameJson(face, workflow.draft?.face)) {
        const command = { type: 'Change', changes, now: this.clock.now() } as const;
        const result = await this.handle(workflowDecider, workflowId, command, step);
        return savedWorkflow(result, { ...of, stored: before.stored });
      }
      const { draft, stored } = await this.deployments.storeDraft(workflowId, planned, face, context);
      const command = { type: 'SaveDraft', draft, basedOn: basisOf(workflow), changes, now: this.clock.now() } as const;
      return savedWorkflow(await this.handle(workflowDecider, workflowId, command, step), { ...of, stored });
    });
  }

  /** Holds the external id that the change gives the workflow, and releases the former one afterwards. */
  private async withExternalId<T>(
    { workflowId, externalId: former }: WorkflowRecord,
    { externalId = former }: Changes,
    context: CommandContext,
    act: () => Promise<T>,
  ): Promise<T> {
    if (externalId !== null && externalId !== former) {
      const holder = await this.externalIds.hold(externalId, workflowId, false, context);
      if (holder !== workflowId) throw externalIdTaken(externalId, holder);
    }
    const done = await act();
    if (former !== null && former !== externalId) await this.externalIds.release(former, workflowId, context);
    return done;
  }

  private async deployed(
    planned: PlannedVersion,
    changes: Changes,
    workflow: WorkflowRecord,
    step: CommandContext,
  ): Promise<SavedWorkflow> {
    const { workflowId } = workflow;
    const basedOn = basisOf(workflow);
    const { deployment, stored } = await this.deployments.store(workflowId, basedOn.version + 1, planned, step);
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
