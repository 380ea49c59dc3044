import { createHash } from 'node:crypto';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import { type StepAnswer, type StepOutput } from '#libs/component-model/step-run.js';
import { type CallRequest, type ComponentCaller } from '../component-caller.js';
import { type BoundCall, BundleNotLoaded, type RunOutcome, SandboxGone, type SandboxSpec } from '../sandbox.js';
import { type CallLimits, CallTurns, DEFAULT_CALL_LIMITS } from './call-turns.js';
import { userError } from './process-end.js';
import { CALLS } from './pooled-sandbox.js';
import { type LentSandbox, type SandboxPool } from './sandbox-pool.js';

export interface ProcessCallerOptions {
  readonly pool: Pick<SandboxPool, 'lend' | 'acquire'>;
  readonly limits?: CallLimits;
  readonly timeoutMs?: number;
  /** Keeps secrets out of logs and errors. */
  readonly masked?: (outcome: RunOutcome, secrets: readonly string[]) => RunOutcome;
}

/** Makes each call in a jailed process that serves nothing else at that time. */
export const processCaller = (options: ProcessCallerOptions): ComponentCaller => {
  const turns = new CallTurns(options.limits ?? DEFAULT_CALL_LIMITS);
  return {
    call: (request) =>
      request.shared
        ? answered(options, request, inShared(options, request, request.shared))
        : turns.run(request.workspaceId, () => answered(options, request, inProcess(options, request))),
  };
};

const answered = async (
  options: ProcessCallerOptions,
  request: CallRequest,
  running: Promise<RunOutcome>,
): Promise<CallOutcome> => {
  const outcome = await running;
  const masked = options.masked?.(outcome, request.secrets ?? []) ?? outcome;
  const { status, value, error, logs, interrupted } = masked;
  if (request.call.kind === 'step') {
    const answer = { status, logs, step: answerOf(masked), ...(error ? { error } : {}) };
    return interrupted ? { ...answer, interrupted } : answer;
  }
  if (status === 'ok' && value === undefined)
    return { status: 'killed', error: userError('ProcessExited', 'the call ended without an answer'), logs };
  return {
    status,
    logs,
    ...(status === 'ok' && value !== undefined ? { value } : {}),
    ...(error === undefined ? {} : { error }),
  };
};

const answerOf = ({ step = NO_OUTPUT, response, dbChanges }: RunOutcome): StepAnswer => ({
  ...step,
  reply: response ?? null,
  ...(Object.keys(dbChanges).length === 0 ? {} : { dbChanges }),
});

/** Of a step whose process could not be started. */
const NO_OUTPUT: StepOutput = { exports: {}, flow: null, sends: [] };

/** Tries again when a kept process turns out to have ended. Such a process is not kept, so the last try starts one. */
const inProcess = async (options: ProcessCallerOptions, request: CallRequest): Promise<RunOutcome> => {
  for (;;) {
    let lent: LentSandbox | undefined;
    try {
      const { workspaceId, key, memoryMb } = request;
      const spec = async (name: string): Promise<SandboxSpec> => specOf(name, request, await request.bundle.file());
      lent = await options.pool.lend(workspaceId, key, spec, memoryMb);
      return await askOnce(lent, options, request);
    } catch (error) {
      if (error instanceof BundleNotLoaded) return failed('threw', error.userError);
      if (!(error instanceof SandboxGone)) throw error;
      if (lent?.isWarm !== true) return failed('killed', userError('ProcessExited', error.message));
    }
  }
};

const askOnce = async (
  { sandbox, giveBack }: LentSandbox,
  { timeoutMs = 30_000 }: ProcessCallerOptions,
  request: CallRequest,
): Promise<RunOutcome> => {
  try {
    const outcome = await sandbox.ask(boundOf(request), request.timeoutMs ?? timeoutMs, request);
    outcome.held?.release();
    return outcome;
  } finally {
    await giveBack();
  }
};

/** Starts of the process of a call that ended before the call began. */
const MAX_STARTS = 3;

/** Makes a call of a code step in the process of its workflow, beside other calls. */
const inShared = async (
  { pool, timeoutMs = 30_000 }: ProcessCallerOptions,
  request: CallRequest,
  { name, env }: NonNullable<CallRequest['shared']>,
): Promise<RunOutcome> => {
  const { workspaceId, timeoutMs: ownMs } = request;
  // A process has the variables from its start on, so changed ones take another process.
  const process = `${CALLS}${digestOf([workspaceId, name, envDigestOf(env)])}`;
  const start = async (): Promise<SandboxSpec> => ({ ...(await specOf(process, request, null)), env });
  for (let starts = 1; ; starts++) {
    try {
      const sandbox = await pool.acquire(process, workspaceId, start, request.memoryMb);
      const outcome = await sandbox.ask({ ...boundOf(request), bundle: request.bundle }, ownMs ?? timeoutMs, request);
      outcome.held?.release();
      return outcome;
    } catch (error) {
      if (error instanceof BundleNotLoaded) return failed('killed', error.userError);
      if (!(error instanceof SandboxGone)) throw error;
      if (starts >= MAX_STARTS) return failed('killed', userError('ProcessExited', error.message));
    }
  }
};

/** Calls share the object of their variables until one changes, so megabytes are not hashed for each call. */
const envDigests = new WeakMap<object, string>();

const envDigestOf = (env: Readonly<Record<string, string>>): string => {
  const digest = envDigests.get(env) ?? digestOf([env]);
  envDigests.set(env, digest);
  return digest;
};

/** As long as the random part of an id, because the path of the process's socket has a limit of 107 bytes. */
const digestOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 18);

const boundOf = ({ call, props, dynamicProps }: CallRequest): BoundCall => ({
  call,
  props,
  ...(dynamicProps === undefined ? {} : { dynamicProps }),
});

/** Props are sent with each call, because another call may have others. */
const specOf = async (name: string, request: CallRequest, bundleFile: string | null): Promise<SandboxSpec> => {
  const { workspaceId, props, packages, key, shared, memoryMb } = request;
  return {
    sourceId: name,
    workspaceId,
    bundleFile,
    props: {},
    ...(packages === undefined ? {} : { packages: await packages() }),
    sendsRequests:
      key !== undefined || shared !== undefined || Object.values(props).some(({ kind }) => kind === 'request'),
    db: {},
    ...(memoryMb === undefined ? {} : { memoryMb }),
    concurrency: 1,
  };
};

const failed = (status: 'threw' | 'killed', error: RunOutcome['error'] & object): RunOutcome => ({
  status,
  error,
  emits: [],
  logs: [],
  dbChanges: {},
  startedAt: 0,
  endedAt: 0,
});
