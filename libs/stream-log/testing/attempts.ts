import { type Attempt } from '../attempt-records.js';

/** The attempt at the delivery `dlv_<n>` of a webhook. */
export const attemptAt = (n: number, more: Partial<Attempt> = {}): Attempt => ({
  topic: 'attempts',
  key: 'wh_1',
  delivery: `dlv_${n}`,
  attempt: 1,
  outcome: 'success',
  workspace: 'o_1',
  emitter: 'dc_1',
  channel: '',
  emit: `emit-${n}`,
  event: `1700000000000-${n}`,
  ts: 1_700_000_000_000 + n,
  ms: 12,
  status: 200,
  error: null,
  nextAttemptAt: null,
  responseSnippet: 'ok',
  ...more,
});
