import { type Finished } from './run-commit.js';
import { type RunnerLogger, type RunnerSettings } from './runner-ports.js';
import { type UserError } from '../component-model/run-output.js';

/** Share of its limit from which a run or hook is slow (docs/reference/component-model.md#run-log). */
const SLOW_SHARE = 0.5;

export interface RunLogOptions {
  readonly sourceId: string;
  readonly logger: Pick<RunnerLogger, 'warn' | 'debug' | 'isLevelEnabled'>;
  readonly settings: Pick<RunnerSettings, 'httpTimeoutMs' | 'timerTimeoutMs' | 'hookTimeoutMs'>;
}

/** Writes one line for each run and hook: at `warn` when it failed, was killed or was slow, else at `debug`. */
export class RunLog {
  constructor(private readonly options: RunLogOptions) {}

  /** @param refused error in place of the db changes that the commit refused */
  committed({ execution, outcome, invocation }: Finished, refused: UserError | undefined): void {
    const kind = execution.hook ? 'hook' : invocation?.headers.kind;
    // A note of the platform is no run.
    if (!outcome || kind === undefined) return;
    const { logger, sourceId } = this.options;
    const ms = outcome.endedAt - outcome.startedAt;
    const limitMs = this.limitOf(kind);
    const isSlow = ms >= limitMs * SLOW_SHARE;
    const error = refused ?? outcome.error;
    const level = error || isSlow ? 'warn' : 'debug';
    if (level === 'debug' && !logger.isLevelEnabled('debug')) return;
    const { id, workspaceId, hook } = execution;
    const fields = {
      source: sourceId,
      workspace: workspaceId,
      invocation: id,
      kind,
      ...(hook ? { hook } : {}),
      status: refused && outcome.status === 'ok' ? 'threw' : outcome.status,
      ms,
      limitMs,
      ...(isSlow ? { slow: true } : {}),
      emits: outcome.emits.length,
      ...(error ? { error: error.name, code: error.code } : {}),
    };
    logger[level](fields, hook ? 'source.hook' : 'source.run');
  }

  private limitOf(kind: string): number {
    const { httpTimeoutMs, timerTimeoutMs, hookTimeoutMs } = this.options.settings;
    if (kind === 'hook') return hookTimeoutMs;
    return kind === 'timer' ? timerTimeoutMs : httpTimeoutMs;
  }
}
