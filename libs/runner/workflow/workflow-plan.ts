import { type AdmissionSettings } from '#libs/workflow-runs/admission.js';
import { type RunPlan } from '#libs/workflow-runs/run-plan.js';
import { type RunOrigin } from '#libs/workflow-runs/run-facts.js';
import { type RunState } from '#libs/workflow-runs/run-state.js';
import { type DeployedVersion, type RunnableWorkflow, type WorkflowRunnerDependencies } from './workflow-ports.js';

/** Runs of one workflow that this process executes at once. Each has up to 6 MB in memory. */
const WINDOW = 100;
const TIMEOUT_SECONDS = { timer: 60, other: 30 } as const;
const SECONDS = { second: 1, minute: 60, hour: 3_600 } as const;

export const planOf = (
  { deploymentId, version, settings, steps, isGone }: DeployedVersion,
  trigger: { readonly type: string },
): RunPlan => ({
  version: { deploymentId, version },
  timeoutSeconds: settings.timeoutSeconds ?? TIMEOUT_SECONDS[trigger.type === 'timer' ? 'timer' : 'other'],
  autoRetry: settings.autoRetry,
  steps: steps.map(({ namespace, id, disabled, if: condition, loop, retry, timeoutSeconds, onError }) => ({
    namespace,
    id,
    disabled,
    hasIf: condition !== null,
    retry,
    timeoutSeconds,
    onError,
    ...(loop ? { loop: { concurrency: loop.concurrency } } : {}),
  })),
  ...(isGone ? { isGone } : {}),
});

/** Without a workflow, which was deleted, nothing may start. */
export const admissionSettings = (workflow: RunnableWorkflow | undefined): AdmissionSettings => {
  if (!workflow)
    return { active: false, concurrency: null, holdSlot: false, throttle: null, queueSize: 0, window: WINDOW };
  const { active, settings } = workflow;
  const { concurrency, holdSlot, throttle, queueSize } = settings;
  return {
    active,
    concurrency,
    holdSlot,
    throttle: throttle && { limit: throttle.limit, intervalMs: throttle.interval * SECONDS[throttle.unit] * 1_000 },
    queueSize,
    window: WINDOW,
  };
};

/** Number of versions of one workflow that stay in memory. */
const KEPT = 4;

/** Time to wait for the event log while a version is unknown. */
const FOLLOW_MS = 10_000;

/** Versions of one workflow. Each is read once while it is used. */
export class Versions {
  private readonly known = new Map<string, DeployedVersion>();

  constructor(
    private readonly workflowId: string,
    private readonly deps: Pick<WorkflowRunnerDependencies, 'workflows' | 'follower'>,
  ) {}

  /**
   * The version with which a run started or, before its start, the one that it will start with. The one that stands for
   * a discarded draft when there is none. Throws for a missing version that a run is pinned to.
   */
  async of(state: Pick<RunState, 'head'>, { startsWith }: Pick<RunOrigin, 'startsWith'>): Promise<DeployedVersion> {
    const { workflowId, deps } = this;
    const { version } = state.head;
    const deployed = version ? null : (deps.workflows.find(workflowId)?.deploymentId ?? null);
    const id = version?.deploymentId ?? startsWith ?? deployed;
    const found = id === null ? undefined : await this.find(id);
    if (found) return found;
    const settings = deps.workflows.find(workflowId)?.settings;
    if (!settings || typeof version?.deploymentId === 'string')
      throw new Error(`version ${id} of workflow ${workflowId} is missing`);
    return { workflowId, deploymentId: null, version: null, settings, steps: [], isGone: true };
  }

  private async find(id: string): Promise<DeployedVersion | undefined> {
    const kept = this.known.get(id);
    // A draft ends, and a version does not.
    const isThere = kept?.version !== null || this.deps.workflows.find(this.workflowId)?.draft?.id === id;
    const version = kept && isThere ? kept : await this.read(id);
    this.known.delete(id);
    if (!version) return undefined;
    this.known.set(id, version);
    const [oldest] = this.known.keys();
    if (this.known.size > KEPT && oldest !== undefined) this.known.delete(oldest);
    return version;
  }

  /** The lane may be ahead of what this process has read of the event log. */
  private async read(id: string): Promise<DeployedVersion | undefined> {
    const { workflows, follower } = this.deps;
    const known = await workflows.version(this.workflowId, id);
    if (known) return known;
    await follower.upToDate(FOLLOW_MS);
    return workflows.version(this.workflowId, id);
  }
}
