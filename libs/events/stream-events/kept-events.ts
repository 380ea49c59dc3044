import { Semaphore } from '#libs/async/semaphore.js';
import { isCaughtUp, type StreamFrame } from '#libs/event-streams/index.js';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { projectorGroup } from '#libs/stream-log/stream-projector.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type EventDoc, eventDocId, eventSummaries, listOf } from '../read-models/event-summaries.projection.js';
import { liveEvent, type StreamForm } from './live-event.js';

export interface KeptEventsOptions {
  readonly readModels: ReadModelStore;
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
}

/** Place at which a stream resumes. */
export interface Resume {
  readonly emitterId: string;
  readonly channel: string;
  /** Id of the last event that the reader received; undefined for none. */
  readonly lastId: string | undefined;
  readonly form: StreamForm;
  readonly userId: string;
  /** Whether the reader is gone. Then no further event is read. */
  readonly isOver: () => boolean;
}

const PAGE = 20;
/** Concurrent reads of the process and of one user. */
const READS = 8;
const READS_PER_USER = 4;
const FIRST_ID = '0-0';

/** A large event that streams replay, read and encoded once. */
interface SharedFrame {
  readonly frame: Promise<Buffer | undefined>;
  uses: number;
}

/** The kept events of a channel, for streams that resume. */
export class KeptEvents {
  private readonly reads = new Semaphore(READS, () => READS_PER_USER);
  private readonly large = new Map<string, SharedFrame>();

  constructor(private readonly options: KeptEventsOptions) {}

  /**
   * Waits until the read model has applied the current end of the log, so that a reader of all later events misses
   * none. Resolves with false when that takes too long.
   */
  caughtUp(emitterId: string): Promise<boolean> {
    const { log, topics } = this.options;
    return isCaughtUp(log, {
      group: projectorGroup(eventSummaries.name),
      topic: topics.emits(emitterId),
      key: emitterId,
    });
  }

  /**
   * Yields whole kept events with a greater id up to the current newest, oldest first: several small ones at once, or a
   * large one alone. Only the large one is cached here.
   */
  async *after(resume: Resume): AsyncGenerator<readonly StreamFrame[]> {
    const { emitterId, channel, lastId = FIRST_ID, form } = resume;
    const newest = await this.page(resume, { limit: 1 });
    const to = newest?.docs[0]?.sort;
    if (to === undefined) return;
    for (let before = eventDocId(emitterId, channel, lastId); ;) {
      const page = await this.page(resume, { limit: PAGE, before, to });
      const oldestFirst = [...(page?.docs ?? [])].reverse();
      const large = oldestFirst.findIndex(({ payloadBytes }) => payloadBytes > 0);
      const small = (large === -1 ? oldestFirst : oldestFirst.slice(0, large)).flatMap(
        (doc) => frameOf(doc, doc.short, form) ?? [],
      );
      const next = oldestFirst[large];
      const last = next ?? oldestFirst.at(-1);
      if (!last) return;
      before = last.id;
      if (small.length > 0) yield small;
      if (next) yield* this.largeOne(resume, next);
    }
  }

  private async *largeOne(resume: Resume, doc: EventDoc): AsyncGenerator<readonly StreamFrame[]> {
    if (resume.isOver()) return;
    const key = `${resume.form} ${doc.id}`;
    let shared = this.large.get(key);
    if (!shared) this.large.set(key, (shared = { frame: this.read(resume, doc), uses: 0 }));
    shared.uses++;
    try {
      const frame = await shared.frame;
      // Without a text it was deleted after the list was read.
      if (frame) yield [{ sort: doc.sort, frame }];
    } finally {
      if (--shared.uses === 0) this.large.delete(key);
    }
  }

  private read({ form, userId }: Resume, doc: EventDoc): Promise<Buffer | undefined> {
    return this.reads.run(userId, async () => {
      const text = await this.options.readModels.text(eventSummaries, doc.id);
      return text === undefined ? undefined : frameOf(doc, text, form)?.frame;
    });
  }

  /** Undefined when the reader is gone before its turn. */
  private page(resume: Resume, query: Omit<PageQuery, 'where'>): Promise<Page<EventDoc> | undefined> {
    const { emitterId, channel, userId, isOver } = resume;
    const where = { list: listOf(emitterId, channel) };
    return this.reads.run(userId, async () =>
      isOver()
        ? undefined
        : this.options.readModels.page<EventDoc>(eventSummaries, { ...query, where, withTotal: false, sortOf }),
    );
  }
}

const frameOf = (doc: EventDoc, text: string, form: StreamForm): StreamFrame | undefined => {
  const event = liveEvent(doc, text);
  return event && { sort: event.sort, frame: event.frame(form) };
};

const sortOf = (id: string): string | undefined => sortableEventId(id.slice(id.lastIndexOf('/') + 1));
