import { Semaphore } from '#libs/async/semaphore.js';
import { ERRORS_CHANNEL, LOGS_CHANNEL } from '#libs/component-model/channels.js';
import { type Asked, type KeptReader, type KeptRecords, type Shown } from '#libs/event-streams/index.js';
import { type Page, type PageQuery, type PageWhere, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { epochMsOf } from '../domain/event-id.js';
import { type KeptEvents } from '../ports.js';
import {
  CHANNELS_KEPT,
  type EventDoc,
  eventDocId,
  eventSummaries,
  familyOf,
} from '../read-models/event-summaries.projection.js';
import { shownSummary, streamOf } from './shown-summary.js';

const PAGE = 100;
/** Concurrent reads of the process and of one user. */
const READS = 4;
const READS_PER_USER = 2;

/**
 * A group of events that is trimmed, oldest first, once it has more than so many events or bytes. The last event that was
 * trimmed may have had any size, so a group from half of its bytes on may be one.
 */
interface Group {
  readonly where: PageWhere;
  readonly most: { readonly count: number; readonly bytes: number };
  /** Of its events since the time that was asked for. */
  count: number;
  bytes: number;
  readonly oldest: EventDoc;
}

/** The kept events of a workspace or of one emitter, over all channels. */
export class KeptSummaries {
  private readonly reads = new Semaphore(READS, () => READS_PER_USER);

  constructor(
    private readonly readModels: ReadModelStore,
    private readonly settings: KeptEvents,
  ) {}

  async since(asked: Asked, since: number, reader: KeptReader): Promise<KeptRecords> {
    const gap = await this.gapSince(asked, since, reader);
    return { ...(gap === undefined ? {} : { gap }), records: this.records(asked, since, reader) };
  }

  private async *records(asked: Asked, since: number, reader: KeptReader): AsyncGenerator<Shown> {
    for await (const doc of this.docs(whereOf(asked), since, reader)) {
      const name = streamOf(doc.channel, asked);
      if (name === undefined) continue;
      if (!asked.whole || doc.payloadBytes === 0) {
        yield shownSummary(name, doc, () => ({ doc, event: doc.short, truncated: doc.payloadBytes > 0 }));
        continue;
      }
      const text = await this.reads.run(reader.userId, () => this.readModels.text(eventSummaries, doc.id));
      // Without a text it was deleted after the page was read.
      if (text !== undefined) yield shownSummary(name, doc, () => ({ doc, event: text, truncated: false }));
    }
  }

  /** Time from which on all events are kept, if one after `since` may be among those that were trimmed. */
  private async gapSince(asked: Asked, since: number, reader: KeptReader): Promise<number | undefined> {
    const groups = new Map<string, Group>();
    const lists = new NewestOfLists(this.settings.retained);
    for await (const doc of this.docs(whereOf(asked), since, reader)) {
      if (streamOf(doc.channel, asked) === undefined) continue;
      lists.add(doc);
      count(groups, this.familyOf(doc), doc);
    }
    const { workspaceId } = asked;
    const all = { where: { workspaceId }, most: { count: Infinity, bytes: this.settings.workspaceBytes } };
    if (await this.isYoungerThan(all.where, since, reader))
      for await (const doc of this.docs(all.where, since, reader)) count(groups, all, doc);
    let gap = lists.gap();
    for (const { where, most, count: n, bytes, oldest } of groups.values()) {
      if (n < most.count && bytes < most.bytes / 2) continue;
      // What is older is trimmed first.
      if (!(await this.isYoungerThan(where, since, reader))) continue;
      gap = Math.max(gap ?? 0, epochMsOf(oldest.eventId));
    }
    return gap;
  }

  private familyOf({ family }: EventDoc): Pick<Group, 'where' | 'most'> {
    const { retained, sourceBytes } = this.settings;
    return { where: { family }, most: { count: CHANNELS_KEPT * retained, bytes: sourceBytes } };
  }

  private async isYoungerThan(where: PageWhere, since: number, reader: KeptReader): Promise<boolean> {
    const page = await this.page(reader, { where, limit: 1, to: sortAt(since) });
    return page?.docs.length === 0;
  }

  /** Oldest first, up to the newest at the call. */
  private async *docs(where: PageWhere, since: number, reader: KeptReader): AsyncGenerator<EventDoc> {
    const to = (await this.page(reader, { where, limit: 1 }))?.docs[0]?.sort;
    if (to === undefined) return;
    for (let before = eventDocId('', '', idAt(since)); ;) {
      const page = await this.page(reader, { where, limit: PAGE, before, to, sortOf });
      const [newest] = page?.docs ?? [];
      if (!page || !newest) return;
      yield* [...page.docs].reverse();
      before = newest.id;
    }
  }

  /** Undefined when the reader is gone before its turn. */
  private page(
    { userId, isOver }: KeptReader,
    query: Omit<PageQuery, 'withTotal'>,
  ): Promise<Page<EventDoc> | undefined> {
    return this.reads.run(userId, async () =>
      isOver() ? undefined : this.readModels.page<EventDoc>(eventSummaries, { ...query, withTotal: false }),
    );
  }
}

/**
 * The times of the newest events of each channel. Of more than are kept at once, those between them and older ones may be
 * left out while the older ones are still there.
 */
class NewestOfLists {
  /** By list: the times of its last events, in a ring, and how many there were. */
  private readonly lists = new Map<string, { readonly times: number[]; count: number }>();

  constructor(private readonly kept: number) {}

  /** @param doc newer than those before. */
  add({ list, eventId }: EventDoc): void {
    const known = this.lists.get(list) ?? { times: [], count: 0 };
    known.times[known.count++ % this.kept] = epochMsOf(eventId);
    this.lists.set(list, known);
  }

  /** Time from which on no list has lost any; undefined where none has as many as are kept. */
  gap(): number | undefined {
    const full = [...this.lists.values()].filter(({ count }) => count >= this.kept);
    return full.reduce<number | undefined>(
      (gap, { times, count }) => Math.max(gap ?? 0, times[count % this.kept] ?? 0),
      undefined,
    );
  }
}

const whereOf = ({ workspaceId, emitterId, streams }: Asked): PageWhere => {
  if (emitterId === undefined) return { workspaceId };
  const channels = { events: '', logs: LOGS_CHANNEL, errors: ERRORS_CHANNEL };
  const asked = Object.entries(channels).filter(([name]) => streams.has(name));
  return { family: asked.map(([, channel]) => familyOf(emitterId, channel)) };
};

const count = (groups: Map<string, Group>, { where, most }: Pick<Group, 'where' | 'most'>, doc: EventDoc): void => {
  const key = JSON.stringify(where);
  const group = groups.get(key) ?? { where, most, count: 0, bytes: 0, oldest: doc };
  group.count++;
  group.bytes += doc.bytes;
  groups.set(key, group);
};

const idAt = (ms: number): string => `${Math.max(0, ms)}-0`;
const sortAt = (ms: number): string => sortableEventId(idAt(ms)) ?? '';
const sortOf = (id: string): string | undefined => sortableEventId(id.slice(id.lastIndexOf('/') + 1));
