import { type CollectionSchema, type Doc } from '#libs/kernel/read-model-store.js';
import { type StreamProjection } from '#libs/stream-log/stream-projection.js';
import { type Attempt, type AttemptValue, attemptsOf, countsOfAttempts } from '#libs/stream-log/attempt-records.js';
import { ATTEMPTS } from '#libs/stream-log/topics.js';
import { attemptCountsDoc, type AttemptCountsDoc, countsOfWebhook } from './attempt-counts.js';

/** Attempt at a delivery, as recorded by the delivery worker. */
export interface AttemptDoc extends Doc, AttemptValue {
  readonly webhookId: string;
  /** Time of the attempt in fixed width, then its id to order attempts of one millisecond. */
  readonly sort: string;
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly emitterId: string;
  readonly channel: string;
  readonly emitId: string;
  readonly eventId: string;
  readonly attempt: number;
  /** `success`, `retry` (another attempt follows) or `final` (failed, none follows). */
  readonly outcome: string;
}

export const deliveryAttempts: CollectionSchema = {
  name: 'webhooks.attempts.v2',
  indexed: ['webhookId', 'deliveryId', 'workspaceId'],
  sort: 'sort',
};

/** Sort of an attempt by its document's id; undefined for another text. */
export const attemptSortOf = (docId: string): string | undefined => {
  const [, delivery, attempt, ts] = /^(dlv_[\w-]+)\.(\d{1,9})\.(\d{1,15}(?:\.\d+)?)$/.exec(docId) ?? [];
  return delivery === undefined ? undefined : attemptSort(Number(ts), `${delivery}/${attempt}`);
};

/** Sort of an attempt, and the least one of a time with an empty id. */
export const attemptSort = (ts: number, id: string): string => `${String(Math.floor(ts)).padStart(15, '0')}-${id}`;

/** Number of attempts kept readable for each webhook (docs/reference/limits.md#deliveries-kept). */
export const RETAINED_ATTEMPTS = 100;

/**
 * Keeps the newest attempts of every webhook. The time distinguishes the attempts of a redelivery from the first ones.
 */
export const attemptsProjection: StreamProjection<AttemptDoc | AttemptCountsDoc> = {
  name: deliveryAttempts.name,
  prefix: ATTEMPTS,
  schema: deliveryAttempts,
  keep: { by: 'webhookId', newest: RETAINED_ATTEMPTS },

  interpret(record) {
    const attempts = attemptsOf(record);
    const newest = attempts.at(-1);
    if (!newest) return undefined;
    const counts = countsOfAttempts(record);
    const docs = attempts.map(attemptDoc);
    return { kind: 'put', docs: counts ? [...docs, attemptCountsDoc(newest, counts)] : docs };
  },

  listOf: ({ key }) => key,

  ofKey: (webhookId) => [{ webhookId }, { webhookId: countsOfWebhook(webhookId) }],
};

export const attemptDoc = (attempt: Attempt): AttemptDoc => {
  const { key, delivery, attempt: number, outcome, workspace, emitter, channel, emit, event, value } = attempt;
  return {
    id: `${delivery}.${number}.${value.ts}`,
    webhookId: key,
    sort: attemptSort(value.ts, `${delivery}/${number}`),
    deliveryId: delivery,
    workspaceId: workspace,
    emitterId: emitter,
    channel,
    emitId: emit,
    eventId: event,
    attempt: number,
    outcome,
    ...value,
  };
};
