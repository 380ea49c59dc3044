import { faultFields } from '../fault-fields.js';
import { type Finished } from './run-commit.js';
import { type RunnerLogger, type RunnerSettings } from '../runner-ports.js';
import { type UserError } from '#libs/component-model/run-output.js';

/** Share of its time limit above which a run or hook counts as slow (docs/reference/component-model.md#run-log). */
const SLOW_SHARE = 0.5;
/** Most lines of level `warn` for one source in a minute. Code that always fails must not fill the operator's disk. */
const WARNINGS_A_MINUTE = 60;
const MINUTE_MS = 60_000;

export interface RunLogOptions {
  readonly sourceId: string;
  readonly logger: Pick<RunnerLogger, 'warn' | 'debug' | 'isLevelEnabled'>;
  readonly settings: Pick<RunnerSettings, 'httpTimeoutMs' | 'timerTimeoutMs' | 'hookTimeoutMs'>;
}

/**
 * Logs one line for each run and hook: at `warn` when it failed, was killed or was slow, otherwise at `debug`. Unless
 * debug is on, the number of lines of a source in a minute is limited, and the next line counts those left out.
 */
export class RunLog {
  private minuteBegan = -Infinity;
  private written = 0;
  private unwritten = 0;

  constructor(private readonly options: RunLogOptions) {}

  /** @param refused error in place of the db changes that the commit refused */
  committed({ execution, outcome, invocation }: Finished, refused: UserError | undefined): void {
    const kind = execution.hook ? 'hook' : invocation?.headers.kind;
    // A line of the platform itself belongs to no run.
    if (!outcome || kind === undefined) return;
    const { logger, sourceId } = this.options;
    const ms = outcome.endedAt - outcome.startedAt;
    const limitMs = this.limitOf(kind);
    const isSlow = ms >= limitMs * SLOW_SHARE;
    const error = refused ?? outcome.error;
    const level = error || isSlow ? 'warn' : 'debug';
    if (!logger.isLevelEnabled('debug') && (level === 'debug' || !this.admits(outcome.endedAt))) return;
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
      ...(error ? faultFields(error) : {}),
      ...(this.unwritten > 0 ? { unwritten: this.unwritten } : {}),
    };
    this.unwritten = 0;
    logger[level](fields, hook ? 'source.hook' : 'source.run');
  }

  private admits(at: number): boolean {
    if (Math.abs(at - this.minuteBegan) >= MINUTE_MS) {
      this.minuteBegan = at;
      this.written = 0;
    }
    if (++this.written <= WARNINGS_A_MINUTE) return true;
    this.unwritten++;
    return false;
  }

  private limitOf(kind: string): number {
    const { httpTimeoutMs, timerTimeoutMs, hookTimeoutMs } = this.options.settings;
    if (kind === 'hook') return hookTimeoutMs;
    return kind === 'timer' ? timerTimeoutMs : httpTimeoutMs;
  }
}
