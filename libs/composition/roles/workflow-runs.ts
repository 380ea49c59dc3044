import { type LaneConsumerOptions } from '#libs/runner/lane-consumer.js';
import { LoadedExecutables } from '#libs/runner/loaded-executables.js';
import { runUrls } from '#libs/runner/workflow/run-urls.js';
import { stepCalls } from '#libs/runner/workflow/step-calls.js';
import { RUNS_FOLLOW } from '#libs/runner/workflow/step-dbs.js';
import { type WorkflowRunnerDependencies } from '#libs/runner/workflow/workflow-ports.js';
import { WorkflowRunner } from '#libs/runner/workflow/workflow-runner.js';
import { type PropBinder } from '#libs/runner/runner-ports.js';
import { type InstallPackages } from '#libs/runner/packages-beside.js';
import { wakeInvocation } from '#libs/stream-log/invocations.js';
import { WorkspaceVariables } from '#libs/variables/index.js';
import { privateRunUrlKey, runnableWorkflows } from '#libs/workflows/index.js';
import { openBucket } from '../buckets.js';
import { ExpressionRealms } from '../expression-realms.js';
import { type Sandboxing } from '../sandboxing.js';
import { type RoleProcess } from './role-process.js';

export interface WorkflowRunsOptions extends Pick<WorkflowRunnerDependencies, 'replies' | 'hostDeaths' | 'metrics'> {
  /** Base of the URLs of runs. */
  readonly publicUrl: string;
  readonly sandboxing: Sandboxing;
  readonly binder: PropBinder;
  readonly packages: InstallPackages;
}

type Kind = LaneConsumerOptions['kinds'][number];

/** Workflows as a kind of executable of the runner. */
export const workflowRuns = async (
  own: RoleProcess,
  { sandboxing, binder, packages, publicUrl, ...others }: WorkflowRunsOptions,
): Promise<Kind> => {
  const { config, plane, topics, logger, closing } = own;
  const { engines, clock, views, follower, handleCommand } = plane;
  const { journal, due, blobs, vault, log } = engines;
  const urlKey = await privateRunUrlKey({ view: views.runUrlKey, vault, handleCommand, clock });
  const realms = new ExpressionRealms(sandboxing.level, (error) =>
    logger.error({ err: error }, 'expressions.not_closed'),
  );
  closing('expressions', () => realms.close());
  const deps: WorkflowRunnerDependencies = {
    ...others,
    urls: runUrls(urlKey, publicUrl),
    mostWaiting: config.waitingRuns,
    workflows: runnableWorkflows(views.workflows, blobs),
    steps: stepCalls({
      binder,
      blobs,
      packages,
      caller: sandboxing.caller,
      expressionsOf: (workspaceId) => realms.of(workspaceId),
      variables: new WorkspaceVariables(views.variables, vault),
      mostMemoryMb: config.workflowMemoryMb,
      outgoing: {
        email: config.smtpUrl !== null,
        opensBucket: (bucket, workspaceId) => openBucket(config, bucket, workspaceId) !== undefined,
      },
      clock,
    }),
    journal,
    due,
    log,
    topics,
    follower,
    clock,
    logger,
  };
  const executables = new LoadedExecutables({
    load: (workflowId, onConflict) => WorkflowRunner.load(workflowId, deps, onConflict),
    // Its processes serve other workflows of the pool, and end when they are idle.
    endProcess: async () => undefined,
    onReleased: async (workflowId) => {
      const workflow = views.workflows.find(workflowId);
      if (workflow) await tried(own, wakeOne(own, workflow));
    },
    metrics: others.metrics,
    logger,
  });
  return { prefix: 'p_', executables };
};

const WAKE_MS = 30_000;

interface Woken {
  readonly id: string;
  readonly workspaceId: string;
}

/** Makes the owner of the workflow's lane load it when it has unfinished runs. */
const wakeOne = async ({ plane, topics }: RoleProcess, { id, workspaceId }: Woken): Promise<void> => {
  const { engines, clock } = plane;
  const unfinished = await engines.journal.runs(id, RUNS_FOLLOW, 1);
  if (unfinished.length === 0) return;
  await engines.log.publish([wakeInvocation(topics, { workflowId: id, workspaceId, now: clock.now() })]);
};

const tried = ({ logger }: RoleProcess, work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => logger.error({ err: error }, 'runs.not_woken: tried again in 30 s'));

/**
 * Wakes the runners of workflows with unfinished runs: at the start of each process, when a process leaves a workflow to
 * another, and now and then in one process. Nothing else arrives for a run that executes, so after the death of its
 * runner the next owner of the lane would not know of it.
 */
export const wakeUnfinished = async (own: RoleProcess): Promise<void> => {
  const wake = async (): Promise<void> => {
    for (const workflow of own.plane.views.workflows.all()) await wakeOne(own, workflow);
  };
  await wake();
  await own.leased({
    name: 'workflow runs',
    start: async () => {
      const timer = setInterval(() => void tried(own, wake()), WAKE_MS).unref();
      return { stop: async () => clearInterval(timer) };
    },
  });
};
