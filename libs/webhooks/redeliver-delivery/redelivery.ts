import { type Clock } from '#libs/kernel/clock.js';
import { type DeliveryHeaders } from '#libs/stream-log/envelopes.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type AttemptDoc } from '../read-models/attempts.projection.js';

/** Record that starts a delivery again from attempt 1, under its former ids, with the payload of its event. */
export const redelivery = (attempt: AttemptDoc, payload: string, topics: TopicPolicy, clock: Clock): LogRecord => {
  const { webhookId, deliveryId, workspaceId, emitterId, channel, emitId, eventId } = attempt;
  const headers: DeliveryHeaders = {
    id: deliveryId,
    webhook: webhookId,
    workspace: workspaceId,
    emitter: emitterId,
    channel,
    emit: emitId,
    event: eventId,
    attempt: '1',
    at: String(clock.now()),
  };
  return { topic: topics.deliveries(webhookId), key: webhookId, headers, value: payload };
};
