import { type Group } from './group.js';
import { type Topic } from './topic.js';
import { type Writer } from '../writer/writer.js';
import { asError } from '#libs/kernel/error-message.js';

const DELAY_MS = 50;
/** Within this time a commit is written together with the next records. */
const LINGER_MS = 20;

/**
 * Writes the commits of groups, delayed and batched. A commit lost in a crash only means that its records are delivered
 * again. Topics that drop consumed records lose them in the same pass, after the commit that frees them.
 */
export class CommitWriter {
  private readonly dirty = new Map<Group, Set<Topic>>();
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  /** Why the last write failed. The next write retries it. */
  private failure: Error | undefined;
  private readonly writing = new Set<Promise<void>>();

  /** `droppable` returns the offset up to which no group needs the topic any more. */
  constructor(
    private readonly writer: Writer,
    private readonly droppable: (topic: Topic) => number,
  ) {}

  add(group: Group, topic: Topic): void {
    if (this.stopped) return;
    let topics = this.dirty.get(group);
    if (!topics) this.dirty.set(group, (topics = new Set()));
    topics.add(topic);
    this.timer ??= setTimeout(() => void this.write(LINGER_MS), DELAY_MS);
  }

  forget(topic: Topic): void {
    for (const topics of this.dirty.values()) topics.delete(topic);
  }

  /** Resolves when everything committed before the call is durable. */
  async flush(): Promise<void> {
    await Promise.all([...this.writing, this.write(0)]);
    if (this.failure) throw this.failure;
  }

  /** Writes what is left and stops. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.flush();
  }

  private async write(lingerMs: number): Promise<void> {
    const written = this.writeDirty(lingerMs);
    this.writing.add(written);
    await written;
    this.writing.delete(written);
  }

  /** Never rejects. */
  private async writeDirty(lingerMs: number): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const writing = [...this.dirty];
    this.dirty.clear();
    const consumed = new Set<Topic>();
    const groups: { group: string; rows: number[] }[] = [];
    for (const [group, changed] of writing) {
      const rows: number[] = [];
      for (const topic of changed) {
        rows.push(topic.id, group.committedOf(topic));
        if (topic.retention.dropConsumed) consumed.add(topic);
      }
      if (rows.length > 0) groups.push({ group: group.name, rows });
    }
    if (groups.length === 0) return;
    const ranges = [...consumed].flatMap((topic) => {
      const upTo = this.droppable(topic);
      return upTo < 0 ? [] : [topic.id, upTo];
    });
    try {
      const commit = this.writer.submit('commit', groups, { lingerMs });
      const drop = ranges.length > 0 ? this.writer.submit('drop', ranges, { lingerMs }) : undefined;
      await Promise.all([commit, drop]);
      this.failure = undefined;
    } catch (error) {
      this.failure = asError(error);
      for (const [group, changed] of writing) for (const topic of changed) this.add(group, topic);
    }
  }
}
