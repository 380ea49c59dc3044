import { type Attempt, type AttemptValue } from '../attempt-records.js';

/** The attempt at the delivery `dlv_<n>` of a webhook. */
export const attemptAt = (
  n: number,
  { value, ...more }: Partial<Omit<Attempt, 'value'>> & { readonly value?: Partial<AttemptValue> } = {},
): Attempt => ({
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
  value: {
    ts: 1_700_000_000_000 + n,
    ms: 12,
    status: 200,
    error: null,
    nextAttemptAt: null,
    responseSnippet: 'ok',
    ...value,
  },
  ...more,
});
