import { integer, milliseconds, named, nullable, oneOf, recordOf, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type AttemptDoc } from './read-models/attempts.projection.js';

/** Attempt as in docs/reference/rest-api.md#deliveries-list. */
export const Delivery = named('Delivery', {
  id: text('`dlv_…`'),
  ts: milliseconds('Epoch milliseconds of the start of the attempt'),
  attempt: integer('1 for the first'),
  outcome: text('`success`, `retry` when another attempt follows, or `final`'),
  status: nullable(integer('Status of the answer, null without one')),
  ms: integer('Milliseconds that the attempt took'),
  error: nullable(text('What went wrong; null for a success')),
  next_attempt_at: nullable(milliseconds()),
  response: text("Start of the answer's body"),
  response_headers: recordOf(text(), 'Of the answer, by name: the first 50 within 4 KB'),
  emit_id: text('Of the event: 27 characters, stable across retries'),
  event_id: text('`<epoch milliseconds>-<sequence>`'),
  emitter_id: text('The source'),
  event_name: text('Channel, empty for the default one'),
});

/** See docs/reference/rest-api.md#webhook-test. */
export const TestDelivery = named('TestDelivery', { ...Delivery.fields, test: oneOf([true], 'It is in no list') });

type Attempted = Omit<AttemptDoc, 'id' | 'sort' | 'webhookId' | 'workspaceId'>;

export const attemptReply = (doc: Attempted): TypeOf<typeof Delivery> => ({
  id: doc.deliveryId,
  ts: doc.ts,
  attempt: doc.attempt,
  outcome: doc.outcome,
  status: doc.status,
  ms: Math.round(doc.ms),
  error: doc.error,
  next_attempt_at: doc.nextAttemptAt,
  response: doc.responseSnippet,
  response_headers: doc.responseHeaders ?? {},
  emit_id: doc.emitId,
  event_id: doc.eventId,
  emitter_id: doc.emitterId,
  event_name: doc.channel,
});
