import { type Retention } from './stream-log.js';

/**
 * Decides the topic of each record. With the layout per emitter each source and webhook has topics of its own, so that
 * a slow one delays no other. The shared layout has fixed topics keyed by id, for more emitters than brokers can have
 * topics.
 */
export interface TopicPolicy {
  invocations(sourceId: string): string;
  emits(emitterId: string): string;
  deliveries(webhookId: string): string;
  attempts(): string;
  /** Topic of what happens to the runs of a workflow. */
  runs(workflowId: string): string;
  /** Topic of the messages that the steps of a workflow send. */
  messages(workflowId: string): string;
  /** Topic of the errors to send by email; undefined when this server sends no email. */
  emails(): string | undefined;
  /**
   * Topics of a source, workflow or webhook, which are created and deleted with it, or of a workspace, created with its
   * first event. None under a shared layout.
   */
  ownedBy(resourceId: string): readonly OwnedTopic[];
  /** Topics that exist from the start. */
  fixed(): readonly OwnedTopic[];
  /** Returns the retention of a topic; undefined for a name that is not of this policy. */
  retentionOf(topic: string): Retention | undefined;
}

export interface OwnedTopic {
  readonly topic: string;
  readonly retention: Retention;
  readonly partitions: number;
}

export const INVOCATIONS = 'invocations.';
export const EMITS = 'emits.';
export const DELIVERIES = 'deliveries.';
export const ATTEMPTS = 'attempts';
export const RUNS = 'runs.';
export const MESSAGES = 'messages.';
export const EMAILS = 'emails';

export interface RetentionSettings {
  readonly emitsAgeMs: number;
  readonly emitsBytes: number;
  /** Whether this server sends email. Default: false. */
  readonly emails?: boolean;
}

const CONSUMED: Retention = { dropConsumed: true };

const keptFor = ({ emitsAgeMs, emitsBytes }: RetentionSettings): Retention => ({
  ageMs: emitsAgeMs,
  bytes: emitsBytes,
});

const retentionOf =
  (kept: Retention): TopicPolicy['retentionOf'] =>
  (topic) => {
    if (topic.startsWith(EMITS) || topic === ATTEMPTS) return kept;
    const isConsumed =
      topic === EMAILS || [INVOCATIONS, DELIVERIES, RUNS, MESSAGES].some((prefix) => topic.startsWith(prefix));
    return isConsumed ? CONSUMED : undefined;
  };

const emailTopics = ({ emails }: RetentionSettings): readonly OwnedTopic[] =>
  emails === true ? [{ topic: EMAILS, retention: CONSUMED, partitions: 1 }] : [];

export const perEmitterTopics = (settings: RetentionSettings): TopicPolicy => {
  const kept = keptFor(settings);
  return {
    invocations: (sourceId) => INVOCATIONS + sourceId,
    emits: (emitterId) => EMITS + emitterId,
    deliveries: (webhookId) => DELIVERIES + webhookId,
    attempts: () => ATTEMPTS,
    runs: (workflowId) => RUNS + workflowId,
    messages: (workflowId) => MESSAGES + workflowId,
    emails: () => (settings.emails === true ? EMAILS : undefined),
    ownedBy: (id) => {
      const emits = { topic: EMITS + id, retention: kept, partitions: 1 };
      const consumed = (prefix: string): OwnedTopic => ({ topic: prefix + id, retention: CONSUMED, partitions: 1 });
      if (id.startsWith('wh_')) return [consumed(DELIVERIES)];
      if (id.startsWith('o_')) return [emits];
      if (id.startsWith('p_')) return [consumed(INVOCATIONS), emits, consumed(RUNS), consumed(MESSAGES)];
      return [consumed(INVOCATIONS), emits];
    },
    fixed: () => [{ topic: ATTEMPTS, retention: kept, partitions: 1 }, ...emailTopics(settings)],
    retentionOf: retentionOf(kept),
  };
};

/** Suffix of the topics that all emitters share. */
const SHARED = 'shared';

/**
 * Puts all emitters on shared topics. `partitions` must not change over the life of an installation, because a key must
 * stay in its lane. The size limit of retention applies per partition.
 */
export const sharedTopics = (settings: RetentionSettings, partitions: number): TopicPolicy => {
  const kept = keptFor(settings);
  return {
    invocations: () => INVOCATIONS + SHARED,
    emits: () => EMITS + SHARED,
    deliveries: () => DELIVERIES + SHARED,
    attempts: () => ATTEMPTS,
    runs: () => RUNS + SHARED,
    messages: () => MESSAGES + SHARED,
    emails: () => (settings.emails === true ? EMAILS : undefined),
    ownedBy: () => [],
    fixed: () => [
      { topic: INVOCATIONS + SHARED, retention: CONSUMED, partitions },
      { topic: EMITS + SHARED, retention: kept, partitions },
      { topic: DELIVERIES + SHARED, retention: CONSUMED, partitions },
      { topic: RUNS + SHARED, retention: CONSUMED, partitions },
      { topic: MESSAGES + SHARED, retention: CONSUMED, partitions },
      { topic: ATTEMPTS, retention: kept, partitions },
      ...emailTopics(settings),
    ],
    retentionOf: retentionOf(kept),
  };
};
