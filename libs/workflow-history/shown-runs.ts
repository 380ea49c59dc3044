import { Inject, Injectable } from '@nestjs/common';
import { pause } from '#libs/async/pause.js';
import { type Caller } from '#libs/http/callers.js';
import { workflowInPath } from '#libs/http/workflow-in-path.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { stepIdOf } from '#libs/workflow-runs/run-plan.js';
import { originOf, PARTS, type RunState } from '#libs/workflow-runs/run-state.js';
import {
  RUN_HISTORY,
  RUNNABLE_WORKFLOWS,
  type RunnableWorkflows,
  type ShownStep,
  type ShownWorkflow,
} from './ports.js';
import { type ListedRun, type RunHistory } from './run-history.js';
import { type Shown } from './run-reply.js';

/** Pauses before further looks at a run that is not there: the history has a run a moment after its caller knows the id. */
const LOOK_AGAIN_MS = [40, 160] as const;

/** Finds runs of the caller's workspaces, and what records show of their workflows. */
@Injectable()
export class ShownRuns {
  constructor(
    @Inject(RUN_HISTORY) private readonly history: RunHistory,
    @Inject(RUNNABLE_WORKFLOWS) private readonly workflows: RunnableWorkflows,
  ) {}

  /** Throws workflow.not_found, also for a workflow of another workspace, and workspace.required for an external id. */
  workflow(w: string, caller: Caller): ShownWorkflow {
    return workflowInPath(this.workflows, w, caller)[1];
  }

  /** Throws run.not_found, also for a run of another workspace or of a deleted workflow. */
  async find(id: string, caller: Caller, how: 'find' | 'whole'): Promise<ListedRun> {
    const found = isIdOf('run', id) ? await this.look(id, how) : undefined;
    if (found && caller.workspaceIds.includes(found.workspaceId) && this.workflows.find(found.workflowId)) return found;
    throw new DomainError('run.not_found', `there is no run ${shownId(id)}${otherKindHint(id, 'run')}`, {
      id: shownId(id),
    });
  }

  private async look(id: string, how: 'find' | 'whole'): Promise<ListedRun | undefined> {
    let found = await this.history[how](id);
    for (const ms of LOOK_AGAIN_MS) {
      if (found) break;
      await pause(ms);
      found = await this.history[how](id);
    }
    return found;
  }

  /** What lists show beside each run. Runs of deleted workflows, which will be removed, are left out. */
  async listed(runs: readonly ListedRun[]): Promise<readonly (readonly [run: ListedRun, shown: Shown])[]> {
    const versions = new Map<string, Promise<readonly ShownStep[]>>();
    const stepsOf = ({ workflowId, state }: ListedRun, { deploymentId }: ShownWorkflow) => {
      // Only an error names a step.
      if (state.head.status !== 'failed') return [];
      const version = versionOf(state, deploymentId);
      if (version === null) return [];
      const known = versions.get(version) ?? this.stepsOfVersion(workflowId, version);
      versions.set(version, known);
      return known;
    };
    const shown = runs.map(async (run) => {
      const workflow = this.workflows.find(run.workflowId);
      if (!workflow) return [];
      const steps = await stepsOf(run, workflow);
      return [[run, { workflowName: workflow.name, steps: { steps } }] as const];
    });
    return (await Promise.all(shown)).flat();
  }

  /** What the record of a run shows beside it. */
  async shown({ workflowId, state }: ListedRun): Promise<Shown> {
    const workflow = this.workflows.find(workflowId);
    const ofVersion = await this.stepsOfVersion(workflowId, versionOf(state, workflow?.deploymentId ?? null));
    const steps = ofVersion.length > 0 ? ofVersion : stepsOfParts(state);
    return { workflowName: workflow?.name ?? '', steps: { steps } };
  }

  /** Of a version or the draft. Empty for a draft that was discarded. */
  readonly stepsOfVersion = async (workflowId: string, id: string | null): Promise<readonly ShownStep[]> =>
    id === null ? [] : ((await this.workflows.version(workflowId, id))?.steps ?? []);
}

/** A run that has not started will mostly have the version that is deployed then. */
const versionOf = (state: RunState, deploymentId: string | null): string | null => {
  const { version } = state.head;
  return version?.deploymentId ?? originOf(state).startsWith ?? (version ? null : deploymentId);
};

const STEP = PARTS.step('');

/** The steps that have an outcome, for a run whose draft is gone. */
const stepsOfParts = (state: RunState): readonly ShownStep[] => {
  const { workflowId } = originOf(state);
  return Object.keys(state.parts)
    .filter((name) => name.startsWith(STEP))
    .map((name) => name.slice(STEP.length))
    .map((namespace) => ({ namespace, id: stepIdOf(workflowId, namespace) }));
};
