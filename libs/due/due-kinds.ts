import {
  type DeliveryHeaders,
  deliveryHeaders,
  emitterHeaders,
  invocationHeaders,
} from '#libs/stream-log/envelopes.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { EMAILS, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type ReadEntry } from './due-store.js';

/**
 * `delayed`: a delayed event is due. `delivery`: a retry or replay to a webhook. `replay`: an invocation of a replay.
 * `message`: the next attempt at a message of a workflow. `run`: the wait of a workflow's run is over.
 */
export type DueKind = 'delayed' | 'delivery' | 'email' | 'message' | 'replay' | 'run';

type Topics = Pick<TopicPolicy, 'deliveries' | 'emits' | 'invocations' | 'messages'>;

interface KindRule {
  /** Makes the record that is published when the entry is due. */
  readonly recordOf: (entry: ReadEntry, topics: Topics) => LogRecord;
  /**
   * Which side removes the entry. The consumer does where the entry must outlast the record: newer deliveries of an
   * ordered webhook must not pass one in flight, and a topic of emits drops records by age. Every other topic keeps a
   * record until it is consumed, so the pump removes the entry once the record is durable.
   */
  readonly removedBy: 'consumer' | 'pump';
}

const invocationKind: KindRule = {
  recordOf: ({ record }, topics) => ({ ...record, topic: topics.invocations(invocationHeaders(record).source) }),
  removedBy: 'pump',
};

export const DUE_KINDS: Readonly<Record<DueKind, KindRule>> = {
  delayed: {
    recordOf: ({ record }, topics) => ({ ...record, topic: topics.emits(emitterHeaders(record).emitter) }),
    removedBy: 'consumer',
  },
  delivery: {
    recordOf: ({ id, record, timesOut }, topics) => {
      const again = timesOut > 0 ? { again: String(timesOut) } : {};
      const headers: DeliveryHeaders = { ...deliveryHeaders(record), entry: id, ...again };
      return { ...record, topic: topics.deliveries(headers.webhook), headers };
    },
    removedBy: 'consumer',
  },
  email: {
    recordOf: ({ record }) => ({ ...record, topic: EMAILS }),
    removedBy: 'pump',
  },
  message: {
    recordOf: ({ record, owner }, topics) => ({ ...record, topic: topics.messages(owner) }),
    removedBy: 'pump',
  },
  replay: invocationKind,
  run: invocationKind,
};
