import { type AdmissionSettings } from '#libs/workflow-runs/admission.js';
import { type RunPlan } from '#libs/workflow-runs/run-plan.js';
import { type DeployedVersion, type RunnableWorkflow, type RunnableWorkflows } from './workflow-ports.js';

/** Runs of one workflow that this process executes at once. Each has up to 6 MB in memory. */
const WINDOW = 100;
const TIMEOUT_SECONDS = { timer: 60, other: 30 } as const;
const SECONDS = { second: 1, minute: 60, hour: 3_600 } as const;

export const planOf = (
  { deploymentId, version, settings, steps }: DeployedVersion,
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

/** Versions of one workflow. Each is read once while it is used. */
export class Versions {
  private readonly known = new Map<string, DeployedVersion>();

  constructor(
    private readonly workflowId: string,
    private readonly workflows: RunnableWorkflows,
  ) {}

  async get(deploymentId: string): Promise<DeployedVersion> {
    const version = this.known.get(deploymentId) ?? (await this.workflows.version(this.workflowId, deploymentId));
    if (!version) throw new Error(`version ${deploymentId} of workflow ${this.workflowId} is missing`);
    this.known.delete(deploymentId);
    this.known.set(deploymentId, version);
    const [oldest] = this.known.keys();
    if (this.known.size > KEPT && oldest !== undefined) this.known.delete(oldest);
    return version;
  }
}
