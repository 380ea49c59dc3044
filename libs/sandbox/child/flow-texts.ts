/** Arguments of `$.flow`, and their texts for the log. */
import { MAX_WAIT_MS } from '#libs/component-model/step-run.js';
import { isWaitMs } from '../protocol/step-message.js';

/** Time of `$.flow.suspend()` without a time: a day. */
export const SUSPEND_MS = 86_400_000;

const MAX_NOTE = 1_000;

export const textOf = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? typeof value);
  return text.length > MAX_NOTE ? `${text.slice(0, MAX_NOTE)}…` : text;
};

export const contextText = (context: unknown): string =>
  context === undefined ? '' : `, with context ${textOf(context)}`;

export const msOf = (what: string, ms: unknown): number => {
  if (isWaitMs(ms)) return ms;
  throw new RangeError(`$.flow.${what}: the time must be a number of milliseconds from 1 to ${MAX_WAIT_MS}`);
};
