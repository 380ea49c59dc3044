import { expect } from '@jest/globals';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { type StepSend, type StepTrigger } from '#libs/component-model/step-run.js';
import { InMemoryDueStore } from '#libs/due/testing/in-memory-due-store.js';
import { type InvocationHeaders } from '#libs/stream-log/envelopes.js';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { NO_RESULT } from '#libs/workflow-runs/finish-step.js';
import { type Outcome, type StepResult } from '#libs/workflow-runs/run-inputs.js';
import { type RunState, initialRun } from '#libs/workflow-runs/run-state.js';
import { type HostDeaths, NO_HOST_DEATHS } from '../../host-deaths.js';
import { type Invocation } from '../../invocation.js';
import { InMemoryJournal } from '../../testing/in-memory-journal.js';
import { urlsBelow } from '../run-urls.js';
import { RUNS_FOLLOW } from '../step-dbs.js';
import { WorkflowRunner } from '../workflow-runner.js';
import {
  type DeployedStep,
  type DeployedVersion,
  type RunSettings,
  type RunnableWorkflow,
  type StepEnd,
  type StepRequest,
  type WorkflowRunnerDependencies,
} from '../workflow-ports.js';

export const until = async (condition: () => boolean): Promise<void> => {
  for (let turns = 0; turns < 1_000 && !condition(); turns++) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(condition()).toBe(true);
};

export const succeeded = (result: Partial<StepResult> = {}): Outcome => ({
  kind: 'succeeded',
  result: { ...NO_RESULT, ...result },
  flow: null,
});
export const failed = (code = 'E_X'): Outcome => ({
  kind: 'failed',
  result: NO_RESULT,
  error: { name: code, message: 'it failed', stack: '', code },
});

export const step = (namespace: string, over: Partial<DeployedStep> = {}): DeployedStep => ({
  namespace,
  id: `c_${namespace}`,
  disabled: false,
  if: null,
  retry: null,
  timeoutSeconds: null,
  onError: 'stop',
  kind: 'code',
  definition: {
    componentId: 'sc_1',
    componentKey: null,
    bundleHash: 'hash',
    props: [],
    hooks: [],
    dedupe: null,
    emitOnDeploy: true,
  },
  open: {},
  propTypes: [],
  ...over,
});

const SETTINGS: RunSettings = {
  timeoutSeconds: null,
  memoryMb: 256,
  concurrency: null,
  holdSlot: false,
  throttle: null,
  queueSize: 100,
  dataRetention: null,
  autoRetry: null,
};

interface Call extends StepRequest {
  end(
    outcome: Outcome,
    sends?: readonly StepSend[],
    triggers?: readonly StepTrigger[],
    dbChanges?: StepEnd['dbChanges'],
  ): void;
  /** Another run ends the process. */
  interrupt(): void;
}

/** What survives a crash of the runner, and what the spec decides. */
export class WorkflowInstallation {
  readonly journal = new InMemoryJournal();
  readonly due = new InMemoryDueStore();
  readonly replies: [string, HttpReply][] = [];
  readonly acked: number[] = [];
  /** Records that belong to no commit. */
  readonly published: LogRecord[] = [];
  now = 1_000_000;
  mostWaiting = 100_000;
  hostDeaths: HostDeaths = NO_HOST_DEATHS;
  workflow: RunnableWorkflow | undefined;
  readonly versions = new Map<string, DeployedVersion>();
  /** Further workflows, which steps may start. */
  readonly others = new Map<string, RunnableWorkflow>();

  constructor(steps: readonly DeployedStep[] = [step('a')], settings: Partial<RunSettings> = {}) {
    this.deploy('d_1', steps, settings);
  }

  deploy(deploymentId: string, steps: readonly DeployedStep[], settings: Partial<RunSettings> = {}): void {
    const all = { ...SETTINGS, ...settings };
    const version = this.versions.size + 1;
    this.versions.set(deploymentId, { workflowId: 'p_1', deploymentId, version, settings: all, steps });
    this.workflow = {
      id: 'p_1',
      workspaceId: 'o_1',
      name: 'w',
      active: true,
      deploymentId,
      draft: null,
      settings: all,
    };
  }

  /** Without steps the draft is discarded. */
  draft(draftId: string, steps?: readonly DeployedStep[]): void {
    if (!this.workflow) throw new Error('there is no workflow');
    const { settings } = this.workflow;
    if (steps) this.versions.set(draftId, { workflowId: 'p_1', deploymentId: null, version: null, settings, steps });
    else this.versions.delete(draftId);
    this.workflow = { ...this.workflow, draft: steps ? { id: draftId } : null };
  }

  /** A process that runs the workflow. `auto` ends each step at once. */
  async process(auto?: (request: StepRequest) => Outcome): Promise<WorkflowProcess> {
    const calls: Call[] = [];
    const conflicts: number[][] = [];
    const quiet = (): void => undefined;
    const deps: WorkflowRunnerDependencies = {
      workflows: {
        find: (id) => (id === 'p_1' ? this.workflow : this.others.get(id)),
        idOfExternal: (external, workspace) => (workspace === 'o_1' && external === 'b/c' ? 'p_2' : undefined),
        version: async (_workflow, deploymentId) => this.versions.get(deploymentId),
      },
      steps: {
        call: (request) => {
          const end = new Promise<StepEnd | 'interrupted'>((resolve) =>
            calls.push({
              ...request,
              end: (outcome, sends = [], triggers = [], dbChanges = undefined) =>
                resolve({ outcome, sends, triggers, ...(dbChanges ? { dbChanges } : {}) }),
              interrupt: () => resolve('interrupted'),
            }),
          );
          return auto ? Promise.resolve({ outcome: auto(request), sends: [] }) : end;
        },
      },
      journal: this.journal,
      due: this.due,
      topics: perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 }),
      follower: { waitFor: async () => true, upToDate: async () => undefined },
      replies: { immediate: (_address, id, reply) => this.replies.push([id, reply]) },
      log: {
        publish: async (records) => {
          this.published.push(...records);
          return records.map((_, at) => at);
        },
      },
      hostDeaths: this.hostDeaths,
      urls: ({ runId, execution }) => urlsBelow(`https://s/r/${runId}.${execution}`),
      mostWaiting: this.mostWaiting,
      clock: { now: () => this.now },
      metrics: { platformFailure: quiet, run: quiet },
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    };
    const runner = await WorkflowRunner.load('p_1', deps, (unfinished) =>
      conflicts.push(unfinished.map(({ record }) => record.offset)),
    );
    return { runner, calls, conflicts };
  }

  /** An event at this offset of the lane. */
  event(offset: number, over: Partial<InvocationHeaders> = {}, value = `{"n":${offset}}`): Invocation {
    const headers: InvocationHeaders = {
      id: `inv_${offset}`,
      kind: 'http',
      source: 'p_1',
      workspace: 'o_1',
      at: '1000',
      hops: '0',
      prop: '',
      respond: '',
      trigger: '{"type":"http","id":"hi_1","name":"http"}',
      ...over,
    };
    const record = { topic: 't', lane: 't', key: 'p_1', offset, timestamp: 1, headers, value, size: value.length };
    return { record, headers, ack: () => this.acked.push(offset), revoked: () => false };
  }

  /** The alarms that are due by now, as events of the lane from this offset on. */
  async alarms(offset: number): Promise<readonly Invocation[]> {
    const due = await this.due.dueBy(this.now, 100);
    return due.map(({ record }, index) =>
      this.event(offset + index, record.headers as InvocationHeaders, record.value),
    );
  }

  /** Changes of the run that the event at this offset started, as the history gets them. */
  changesOf(offset: number): readonly RunChange[] {
    const changes = this.journal.records
      .filter(({ topic }) => topic === 'runs.p_1')
      .map(({ value }) => JSON.parse(value) as RunChange);
    return changes.filter(({ runId }) => runId === runIdOf(`inv_${offset}`));
  }

  /** State of a run as its history knows it. */
  run(offset: number): RunState {
    return this.changesOf(offset).reduce<RunState>(({ parts }, { head, parts: changed }) => {
      const all = { ...parts, ...changed };
      return {
        head,
        parts: Object.fromEntries(Object.entries(all).filter((part): part is [string, string] => part[1] !== null)),
      };
    }, initialRun);
  }

  statusOf(offset: number): string | undefined {
    return this.changesOf(offset).at(-1)?.head.status;
  }

  /** Ids of the runs in the journal. */
  async kept(): Promise<readonly string[]> {
    return (await this.journal.runs('p_1', RUNS_FOLLOW, 1_000)).map(({ run }) => run);
  }

  /** Errors on `$errors`. */
  errors(): readonly { readonly error: { readonly code: string; readonly cellId: string | null } }[] {
    return this.journal.records
      .filter(({ headers }) => headers['channel'] === '$errors')
      .map(({ value }) => JSON.parse(value) as { error: { code: string; cellId: string | null } });
  }
}

export interface WorkflowProcess {
  readonly runner: WorkflowRunner;
  /** Steps that were called, in their order. */
  readonly calls: readonly Call[];
  readonly conflicts: readonly number[][];
}
