import { type Group } from './group.js';
import { type Topic } from './topic.js';
import { type Writer } from './writer.js';

const DELAY_MS = 50;

/**
 * Writes what groups have committed, late and together: a commit lost in a crash only means that its records come
 * again. Records of topics that drop what is consumed go in the same pass, after the commit that frees them.
 */
export class CommitWriter {
  private readonly dirty = new Map<Group, Set<Topic>>();
  private timer: NodeJS.Timeout | undefined;

  /** `droppable`: offset up to which no group needs the topic any more. */
  constructor(
    private readonly writer: Writer,
    private readonly droppable: (topic: Topic) => number,
  ) {}

  add(group: Group, topic: Topic): void {
    let topics = this.dirty.get(group);
    if (!topics) this.dirty.set(group, (topics = new Set()));
    topics.add(topic);
    this.timer ??= setTimeout(() => {
      // Rejected: kept as dirty, tried again with the next commit.
      this.flush().catch(() => undefined);
    }, DELAY_MS);
  }

  forget(topic: Topic): void {
    for (const topics of this.dirty.values()) topics.delete(topic);
  }

  /** Resolves when all that was committed before the call is durable. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const taken = [...this.dirty];
    this.dirty.clear();
    const topics = new Set<Topic>();
    const groups = taken.map(([group, changed]) => {
      const rows: number[] = [];
      for (const topic of changed) {
        rows.push(topic.id, group.committedOf(topic));
        if (topic.retention.dropConsumed) topics.add(topic);
      }
      return { group: group.name, rows };
    });
    const written = groups.some(({ rows }) => rows.length > 0);
    const drops: number[] = [];
    for (const topic of topics) {
      const upTo = this.droppable(topic);
      if (upTo >= 0) drops.push(topic.id, upTo);
    }
    const commit = written ? this.writer.submit('commit', groups) : Promise.resolve(null);
    const drop = drops.length > 0 ? this.writer.submit('drop', drops) : Promise.resolve(null);
    const outcomes = await Promise.allSettled([commit, drop]);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (!failed) return;
    for (const [group, changed] of taken) for (const topic of changed) this.add(group, topic);
    throw failed.reason;
  }
}
