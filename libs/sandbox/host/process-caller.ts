import { randomKey } from '../../kernel/ids.js';
import { type CallOutcome } from '../../component-model/component-call.js';
import { type CallRequest, type ComponentCaller } from '../component-caller.js';
import { BundleNotLoaded, type RunOutcome, SandboxGone } from '../sandbox.js';
import { type CallLimits, CallTurns, DEFAULT_CALL_LIMITS } from './call-turns.js';
import { userError } from './process-end.js';
import { type ClosableSandboxFactory } from './sandbox-factory.js';

export interface ProcessCallerOptions {
  /** Each call has a process of its own, under a name that serves as `sourceId`. */
  readonly factory: Pick<ClosableSandboxFactory, 'start'>;
  readonly limits?: CallLimits;
  readonly timeoutMs?: number;
  /** Keeps secrets out of logs and errors. */
  readonly masked?: (outcome: RunOutcome, secrets: readonly string[]) => RunOutcome;
}

/** Makes each call in a jailed process of its own, which ends with it. */
export const processCaller = (options: ProcessCallerOptions): ComponentCaller => {
  const turns = new CallTurns(options.limits ?? DEFAULT_CALL_LIMITS);
  return {
    call: (request) => turns.run(request.workspaceId, () => callOnce(options, request)),
  };
};

const callOnce = async (options: ProcessCallerOptions, request: CallRequest): Promise<CallOutcome> => {
  const name = `call_${randomKey(18)}`;
  const outcome = await inProcess(options, name, request);
  const { status, value, error, logs } = options.masked?.(outcome, request.secrets ?? []) ?? outcome;
  if (status === 'ok' && value === undefined)
    return { status: 'killed', error: userError('ProcessExited', 'the call ended without an answer'), logs };
  return {
    status,
    logs,
    ...(status === 'ok' && value !== undefined ? { value } : {}),
    ...(error === undefined ? {} : { error }),
  };
};

const inProcess = async (
  { factory, timeoutMs = 30_000 }: ProcessCallerOptions,
  name: string,
  request: CallRequest,
): Promise<RunOutcome> => {
  const { workspaceId, bundleFile, props, dynamicProps, packages, call } = request;
  try {
    const sandbox = await factory.start({
      sourceId: name,
      workspaceId,
      bundleFile,
      props,
      ...(packages === undefined ? {} : { packages: await packages() }),
      ...(dynamicProps === undefined ? {} : { dynamicProps }),
      db: {},
      concurrency: 1,
    });
    try {
      const outcome = await sandbox.ask(call, request.timeoutMs ?? timeoutMs);
      outcome.held?.release();
      return outcome;
    } finally {
      await sandbox.stop();
    }
  } catch (error) {
    if (error instanceof BundleNotLoaded) return failed('threw', error.userError);
    if (error instanceof SandboxGone) return failed('killed', userError('ProcessExited', error.message));
    throw error;
  }
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
