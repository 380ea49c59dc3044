import { type ActionAnswer } from '#libs/component-model/action-run.js';
import { type LogLine, type UserError } from '#libs/component-model/run-output.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type ActionOutcome, type ActionRunner, type ActionRunRequest } from '#libs/actions/published.js';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import { type ComponentCaller, userError } from '#libs/sandbox/index.js';
import { type SourceDefinition } from '#libs/sources/published.js';
import { type InstallPackages } from './packages-beside.js';
import { faultFields } from './fault-fields.js';
import { secretsOf } from './outcome/prop-secrets.js';
import { type PropBinder, type RunnerLogger } from './runner-ports.js';

export interface ActionRunsDependencies {
  readonly binder: PropBinder;
  readonly blobs: Pick<BlobStore, 'fileOf'>;
  readonly packages: InstallPackages;
  readonly caller: ComponentCaller;
  readonly clock: Clock;
  readonly logger: Pick<RunnerLogger, 'info' | 'warn'>;
  readonly usage: {
    recordRun(workspaceId: string, computeMs: number): void;
    add(workspaceId: string, what: 'errors'): void;
  };
  /** Longest time for the run's code, without its wait for a turn. */
  readonly timeoutMs: number;
}

/** Runs single actions (docs/reference/component-model.md#action-run). Stores nothing, and logs one line a run. */
export const actionRuns = (deps: ActionRunsDependencies): ActionRunner => ({
  async run(request: ActionRunRequest): Promise<ActionOutcome> {
    const { binder, blobs, packages: install, caller, clock, timeoutMs } = deps;
    const { runId, workspaceId, definition, secrets } = request;
    const { packages } = definition;
    const askedAt = clock.now();
    // The vault does not have the secrets of a single run.
    const texts = new Map(secrets.map(({ ref, text }) => [ref, text]));
    const props = await binder.bind(workspaceId, definition, texts);
    const outcome = await caller.call({
      workspaceId,
      key: processKey(definition),
      bundle: { hash: definition.bundleHash, file: () => blobs.fileOf(definition.bundleHash) },
      ...(packages === undefined ? {} : { packages: () => install(workspaceId, packages) }),
      props,
      call: { kind: 'action', facts: { runId, workspaceId, ts: new Date(askedAt).toISOString(), timeoutMs } },
      secrets: secretsOf(definition, props),
      timeoutMs,
    });
    const endedAt = clock.now();
    // The sandbox does not report how long a run waited for its turn, but `timeoutMs` bounds the run itself.
    deps.usage.recordRun(workspaceId, Math.min(endedAt - askedAt, timeoutMs));
    const ended = actionOutcome(outcome, endedAt);
    if (ended.status !== 'ok') deps.usage.add(workspaceId, 'errors');
    writeLine(deps, request, ended, endedAt - askedAt);
    return ended;
  },
});

/** Identifies the process of an action within its workspace (docs/reference/component-model.md#action-process). */
const processKey = ({ componentId, bundleHash, packages }: SourceDefinition): string =>
  JSON.stringify(['action', componentId, bundleHash, packages?.lockHash ?? null]);

const NOTHING: ActionAnswer = { exports: {} };

const actionOutcome = ({ status, value, error, logs }: CallOutcome, endedAt: number): ActionOutcome => {
  if (status === 'ok') {
    const answer = value === undefined ? undefined : answerOf(value);
    if (answer) return { status, logs, answer, endedAt };
    return failed('killed', logs, userError('ProcessExited', 'the run ended without an answer'), endedAt);
  }
  return failed(status, logs, error ?? userError('ProcessExited', 'the run ended without an answer'), endedAt);
};

const failed = (
  status: 'threw' | 'killed',
  logs: readonly LogLine[],
  error: UserError,
  endedAt: number,
): ActionOutcome => ({ status, logs, error, answer: NOTHING, endedAt });

/** Undefined when the process forged its answer. The text is JSON of bounded depth. */
const answerOf = (text: string): ActionAnswer | undefined => {
  const answer = JSON.parse(text) as unknown;
  if (typeof answer !== 'object' || answer === null || !('exports' in answer)) return undefined;
  const { exports } = answer;
  if (typeof exports !== 'object' || exports === null || Array.isArray(exports)) return undefined;
  const own = exports as Readonly<Record<string, unknown>>;
  return 'ret' in answer ? { exports: own, ret: answer.ret } : { exports: own };
};

const writeLine = (
  { logger, timeoutMs }: ActionRunsDependencies,
  { runId, workspaceId, definition }: { runId: string; workspaceId: string; definition: SourceDefinition },
  { status, error, logs }: ActionOutcome,
  ms: number,
): void => {
  const fields = {
    run: runId,
    workspace: workspaceId,
    component: definition.componentId,
    status,
    ms,
    limitMs: timeoutMs,
    lines: logs.length,
    ...(error ? faultFields(error) : {}),
  };
  logger[error ? 'warn' : 'info'](fields, 'action.run');
};
