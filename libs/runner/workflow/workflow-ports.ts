/** Ports that the runs of workflows need, besides those of the runner. */
import { type HttpReply } from '#libs/component-model/run-output.js';
import { type AskTrigger, type StepSend, type StepTrigger, type StepUrls } from '#libs/component-model/step-run.js';
import { type DueStore } from '#libs/due/due-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Execution } from '#libs/workflow-runs/next-execution.js';
import { type Outcome } from '#libs/workflow-runs/run-inputs.js';
import {
  type DeployedStep as Step,
  type DeployedVersion as Version,
  type RunnableWorkflow as Workflow,
  type WorkflowSettings,
} from '#libs/workflows/published.js';
import { type DbChanges } from '../outcome/db-draft.js';
import { type HostDeaths } from '../host-deaths.js';
import { type RunJournal } from '../run-journal.js';
import { type OnLines } from './line-batches.js';
import { type NamedExecution } from './run-token.js';
import { type LogFollower, type Replies, type RunnerLogger, type RunnerMetrics } from '../runner-ports.js';

/** Settings of a workflow that its runs need (docs/reference/workflows.md#settings). */
export type RunSettings = Pick<
  WorkflowSettings,
  'timeoutSeconds' | 'memoryMb' | 'concurrency' | 'holdSlot' | 'throttle' | 'queueSize' | 'autoRetry' | 'dataRetention'
>;

export interface RunnableWorkflow extends Pick<Workflow, 'id' | 'workspaceId' | 'name' | 'active' | 'deploymentId'> {
  readonly settings: RunSettings;
  readonly draft: { readonly id: string } | null;
}

export type DeployedStep = Omit<Step, 'name'>;

/** Everything that a run needs of the version that it is pinned to. */
export interface DeployedVersion extends Omit<Version, 'settings' | 'steps'> {
  readonly settings: RunSettings;
  readonly steps: readonly DeployedStep[];
  /** Stands for a draft that was discarded. It has no steps. */
  readonly isGone?: true;
}

/** Workflows according to the event log. */
export interface RunnableWorkflows {
  /** Undefined for a workflow that is unknown or deleted. */
  find(workflowId: string): RunnableWorkflow | undefined;
  /** Id of the workflow of the workspace with this external id. */
  idOfExternal(externalId: string, workspaceId: string): string | undefined;
  /** A version or the draft. Undefined when the workflow is unknown or deleted, or does not have it. */
  version(workflowId: string, deploymentId: string): Promise<DeployedVersion | undefined>;
}

/** One execution of a step. */
export interface StepRequest {
  readonly workspaceId: string;
  readonly workflowId: string;
  readonly step: DeployedStep;
  readonly execution: Execution;
  /** JSON texts of the members of `steps`, `trigger` included, by namespace. The items of a loop share one object. */
  readonly steps: Readonly<Record<string, string>>;
  /** `$.context`. */
  readonly context: Readonly<Record<string, unknown>>;
  /** Milliseconds of a stretch, for a step that asks for more time. */
  readonly stretchMs: number;
  /** Heap that the workflow asks for. */
  readonly memoryMb: number;
  /** Longest time of the execution in milliseconds, however often it asks for more. */
  readonly mostMs: number;
  readonly hasCaller: boolean;
  readonly test: boolean;
  /** JSON text of the item, and its index. Absent for a step that runs once, and while the list is to be evaluated. */
  readonly item?: { readonly text: string; readonly index: number };
  /** Content of `$.service.db`, as JSON texts by key. Absent for a step that does not declare it. */
  readonly db?: Readonly<Record<string, string>>;
  /** Addresses that end a wait of this execution. Null in a test. */
  readonly urls: StepUrls | null;
  /** Called with the reply of `$.respond({immediate: true})` while the step runs. */
  readonly onReply: (reply: HttpReply) => void;
  readonly onTrigger: AskTrigger;
  /** Called with log lines while the step runs. Their secrets are masked. */
  readonly onLines: OnLines;
  /** Aborted when the run has ended, so that nobody needs the outcome. */
  readonly signal: AbortSignal;
}

export interface StepEnd {
  readonly outcome: Outcome;
  /** Messages that go out once the outcome is durable, in the order of `outcome.result.sends`. */
  readonly sends: readonly StepSend[];
  /** Workflows that start once the outcome is durable, unless the step failed. Absent for none. */
  readonly triggers?: readonly StepTrigger[];
  /** Changes of `$.service.db`, stored with the outcome unless the step failed. Absent for none. */
  readonly dbChanges?: DbChanges;
}

export interface StepCalls {
  /**
   * Resolves even when the step fails, and to `interrupted` when another run ended its process. Rejects when the platform
   * could not run it, so that it is tried again.
   */
  call(request: StepRequest): Promise<StepEnd | 'interrupted'>;
}

export interface WorkflowRunnerDependencies {
  readonly workflows: RunnableWorkflows;
  readonly steps: StepCalls;
  readonly journal: RunJournal;
  readonly due: Pick<DueStore, 'put'>;
  readonly topics: TopicPolicy;
  readonly follower: LogFollower;
  readonly replies: Pick<Replies, 'immediate'>;
  /** Tells open streams of lines. They may be lost. */
  readonly log: Pick<StreamLog, 'publish'>;
  readonly hostDeaths: HostDeaths;
  readonly urls: (named: NamedExecution) => StepUrls;
  /** Most runs of a workflow that may wait. */
  readonly mostWaiting: number;
  readonly clock: Clock;
  readonly metrics: Pick<RunnerMetrics, 'platformFailure' | 'run'>;
  readonly logger: Pick<RunnerLogger, 'debug' | 'info' | 'warn' | 'error'>;
}
