import { type TopicSelector } from '#libs/stream-log/stream-log.js';
import { type EmbeddedConsumer } from './consumer.js';
import { type Lane } from './lane.js';
import { type Topic } from './topic.js';

/**
 * A group without a consumer for this long counts as removed and no longer holds back retention. Only time with the
 * log open counts, because consumers cannot connect while it is closed.
 */
const FORGOTTEN_AFTER_MS = 3600 * 1000;

export const selects = (selector: TopicSelector, topic: string): boolean =>
  'prefix' in selector ? topic.startsWith(selector.prefix) : selector.names.includes(topic);

/** A consumer group: its committed offsets and the owner of each lane. */
export class Group {
  /** At most one consumer, because each role of the process has one and the process owns its data alone. */
  readonly members = new Set<EmbeddedConsumer>();
  /** Lanes by topic id. */
  readonly lanes = new Map<number, Lane>();
  /**
   * Highest offset up to which all records are acknowledged, by topic id. At most one commit ahead of the durable one.
   */
  readonly committed = new Map<number, number>();
  private readonly prefixes = new Set<string>();
  private readonly names = new Set<string>();
  backlog = 0;

  constructor(
    readonly name: string,
    public seenAt: number,
  ) {}

  add(topic: string, isPrefix: boolean): void {
    (isPrefix ? this.prefixes : this.names).add(topic);
  }

  forgetTopic(topic: Topic): void {
    this.committed.delete(topic.id);
    this.names.delete(topic.name);
  }

  /** Whether the group still has to read the topic, with or without a live consumer. */
  needs(topic: string, now: number): boolean {
    if (this.members.size === 0 && now - this.seenAt > FORGOTTEN_AFTER_MS) return false;
    if (this.names.has(topic)) return true;
    for (const prefix of this.prefixes) if (topic.startsWith(prefix)) return true;
    return false;
  }

  committedOf(topic: Topic): number {
    return this.committed.get(topic.id) ?? -1;
  }

  /** The consumer, if it selects the topic. */
  memberFor(topic: Topic): EmbeddedConsumer | undefined {
    return [...this.members].find(({ options }) => selects(options.topics, topic.name));
  }
}
