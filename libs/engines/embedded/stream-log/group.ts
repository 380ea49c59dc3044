import { type TopicSelector } from '#libs/stream-log/stream-log.js';
import { type EmbeddedConsumer } from './consumer.js';
import { type Lane } from './lane.js';
import { type Topic } from './topic.js';

/**
 * A group without a consumer for this long, while the log was open, holds back no retention: it was removed for good.
 * The time that the log was closed does not count: its consumers had no chance to come.
 */
const FORGOTTEN_AFTER_MS = 3600 * 1000;

export const selects = (selector: TopicSelector, topic: string): boolean =>
  'prefix' in selector ? topic.startsWith(selector.prefix) : selector.names.includes(topic);

/** A group of consumers: what it has committed, and who has which lane. */
export class Group {
  readonly members = new Set<EmbeddedConsumer>();
  /** By topic id. */
  readonly lanes = new Map<number, Lane>();
  /** By topic id: highest offset up to which everything is acknowledged. Ahead of what is durable by one commit. */
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

  /** Whether the group, with or without a live consumer, still has to read the topic. */
  needs(topic: string, now: number): boolean {
    if (this.members.size === 0 && now - this.seenAt > FORGOTTEN_AFTER_MS) return false;
    if (this.names.has(topic)) return true;
    for (const prefix of this.prefixes) if (topic.startsWith(prefix)) return true;
    return false;
  }

  committedOf(topic: Topic): number {
    return this.committed.get(topic.id) ?? -1;
  }

  /** The member that takes a lane nobody has: of those that select it, the one with fewest. */
  memberFor(topic: Topic): EmbeddedConsumer | undefined {
    let chosen: EmbeddedConsumer | undefined;
    for (const member of this.members) {
      if (!selects(member.options.topics, topic.name)) continue;
      if (!chosen || member.lanes.size < chosen.lanes.size) chosen = member;
    }
    return chosen;
  }
}
