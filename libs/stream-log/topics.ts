import { type Retention } from './stream-log.js';

/**
 * Which topic a record goes to, decided in one place. Per emitter: a topic of its own for each source and webhook, so
 * that a slow one delays nobody else. Shared: N topics keyed by id, for more emitters than the brokers take topics.
 */
export interface TopicPolicy {
  invocations(sourceId: string): string;
  emits(emitterId: string): string;
  deliveries(webhookId: string): string;
  attempts(): string;
  /** Topics that come and go with a source or webhook; none under a shared layout. */
  ownedBy(resourceId: string): readonly OwnedTopic[];
  /** Topics that exist from the start. */
  fixed(): readonly OwnedTopic[];
}

export interface OwnedTopic {
  readonly topic: string;
  readonly retention: Retention;
}

export const INVOCATIONS = 'invocations.';
export const EMITS = 'emits.';
export const DELIVERIES = 'deliveries.';
export const ATTEMPTS = 'attempts';

export interface RetentionSettings {
  readonly emitsAgeMs: number;
  readonly emitsBytes: number;
}

const CONSUMED: Retention = { dropConsumed: true };

export const perEmitterTopics = (settings: RetentionSettings): TopicPolicy => {
  const kept: Retention = { ageMs: settings.emitsAgeMs, bytes: settings.emitsBytes };
  return {
    invocations: (sourceId) => INVOCATIONS + sourceId,
    emits: (emitterId) => EMITS + emitterId,
    deliveries: (webhookId) => DELIVERIES + webhookId,
    attempts: () => ATTEMPTS,
    ownedBy: (id) =>
      id.startsWith('wh_')
        ? [{ topic: DELIVERIES + id, retention: CONSUMED }]
        : [
            { topic: INVOCATIONS + id, retention: CONSUMED },
            { topic: EMITS + id, retention: kept },
          ],
    fixed: () => [{ topic: ATTEMPTS, retention: kept }],
  };
};
