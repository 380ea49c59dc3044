import {
  boolean,
  integer,
  listOf,
  milliseconds,
  named,
  nullable,
  object,
  oneOf,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { EventSummaryReply } from '../event-summary.js';
import { RUN_KINDS, RUN_STATUSES } from './run-filter.js';

/** Fields as in docs/reference/rest-api.md#source-runs. */
const RUN = {
  id: text('`inv_…`, the invocation'),
  kind: oneOf(RUN_KINDS, 'What started it'),
  status: oneOf(RUN_STATUSES, 'How far it is, or how it ended'),
  queued_at_ms: milliseconds('Epoch milliseconds'),
  started_at_ms: nullable(milliseconds('Epoch milliseconds; null until it starts')),
  ms: nullable(integer('Duration; null until it ends')),
  error: nullable(
    object(
      { name: text('Name of the error'), message: text('Its message, cut at 256 bytes') },
      'What it threw, or why it was ended',
    ),
  ),
  http_status: nullable(integer('Status of its reply to a request; null when it gave none')),
  attempts: integer('How often it was started: more than once when the server was killed during it'),
};

export const SourceRunReply = named('SourceRun', {
  ...RUN,
  emits: integer('Events that it emitted, without duplicates'),
  logs: integer('Lines that it logged'),
});
export type SourceRunRecord = TypeOf<typeof SourceRunReply>;

export const WholeSourceRunReply = named('WholeSourceRun', {
  ...RUN,
  emits: listOf(EventSummaryReply, 'Its events that are kept, oldest first'),
  logs: listOf(EventSummaryReply, 'Its lines that are kept, oldest first'),
  emits_kept: boolean('False when some of its events or lines are gone'),
});
export type WholeSourceRunRecord = TypeOf<typeof WholeSourceRunReply>;
