import { isPosition, type Position } from '#libs/kernel/events.js';
import { type SourceDefinition } from '#libs/sources/published.js';
import { SAMPLE_EMIT, type ProcessCall } from '#libs/component-model/hooks.js';

/** Value of an invocation of kind `hook`, whose id is that of the execution and the same on a repeat. */
export interface HookRequest {
  readonly hook: ProcessCall;
  readonly definition: SourceDefinition;
  /** Epoch milliseconds on the caller's clock, for a runner in the caller's own process. */
  readonly deadline: number;
  /** Uptime of the caller's process at which the operation stops waiting. The hook must not run later. */
  readonly untilUptimeMs: number;
}

/** Value of an invocation of kind `settled`. */
export interface OperationEnd {
  /** Position in the event log from which the log's definition applies again. */
  readonly position: Position;
}

const HOOKS: readonly string[] = ['deploy', 'activate', 'deactivate', SAMPLE_EMIT] satisfies readonly ProcessCall[];

/** Returns undefined for a value that Sluice has not written. */
export const readHookRequest = (value: string): HookRequest | undefined => {
  const read = objectOf(value);
  if (!read || !HOOKS.includes(String(read['hook'])) || typeof read['deadline'] !== 'number') return undefined;
  const { definition, untilUptimeMs } = read;
  if (typeof untilUptimeMs !== 'number') return undefined;
  return typeof definition === 'object' && definition !== null ? (read as object as HookRequest) : undefined;
};

export const readOperationEnd = (value: string): OperationEnd | undefined => {
  const position = objectOf(value)?.['position'];
  return typeof position === 'string' && isPosition(position) ? { position } : undefined;
};

const objectOf = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
