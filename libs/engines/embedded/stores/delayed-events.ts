import {
  type DelayedEvent,
  type DelayedEvents,
  type DelayedKey,
  type DelayedPage,
  type DelayedRange,
  delayedSort,
  type DelayedUsage,
} from '#libs/stream-log/delayed-events.js';
import { pagesByKey } from '../pages.js';
import { type Database } from '../writer/sqlite-driver.js';
import { type Writer } from '../writer/writer.js';

interface Row {
  readonly key: string;
  readonly event: string;
  readonly payload: string;
}

/** Event ids, as sortable text, below and above all real ones. */
const FIRST = '';
const LAST = '~';

/** DelayedEvents in data.db. */
export class EmbeddedDelayedEvents implements DelayedEvents {
  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
  ) {}

  async put(events: readonly DelayedEvent[]): Promise<void> {
    if (events.length === 0) return;
    let bytes = 0;
    const rows = events.flatMap(({ payload, ...event }) => {
      const size = Buffer.byteLength(payload);
      bytes += size + 400;
      return [event.sourceId, delayedSort(event.eventId), size, JSON.stringify(event), payload];
    });
    await this.writer.submit('delay', rows, { bytes });
  }

  async find(sourceId: string, eventId: string): Promise<DelayedEvent | undefined> {
    const row = this.reader
      .sql('SELECT event, payload FROM delayed WHERE source = ? AND sort = ?')
      .get<Row>(sourceId, delayedSort(eventId));
    return row && eventOf(row);
  }

  async remove(events: readonly DelayedKey[]): Promise<void> {
    if (events.length > 0) await this.writer.submit('undelay', keysOf(events));
  }

  async removeRange(source: string, { from = FIRST, to = LAST }: DelayedRange): Promise<readonly string[]> {
    return this.writer.submit('undelay_range', { source, from, to });
  }

  async page(
    sourceId: string,
    { limit, after = LAST, before }: { limit: number; after?: string; before?: string },
  ): Promise<DelayedPage> {
    const upwards = before !== undefined && after === LAST;
    const rows = this.reader
      .sql(
        `SELECT event, payload FROM delayed WHERE source = ? AND sort > ? AND sort < ?
         ORDER BY sort ${upwards ? 'ASC' : 'DESC'} LIMIT ?`,
      )
      .all<Row>(sourceId, before ?? FIRST, after, limit);
    const events = (upwards ? rows.reverse() : rows).map(eventOf);
    return { events, total: (await this.usage(sourceId)).count };
  }

  async anyIn(sourceId: string, { from = FIRST, to = LAST }: DelayedRange): Promise<boolean> {
    const sql = 'SELECT 1 AS one FROM delayed WHERE source = ? AND sort >= ? AND sort <= ? LIMIT 1';
    return this.reader.sql(sql).get(sourceId, from, to) !== undefined;
  }

  async usage(sourceId: string): Promise<DelayedUsage> {
    const sql = 'SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM delayed WHERE source = ?';
    return this.reader.sql(sql).get<DelayedUsage>(sourceId) ?? { count: 0, bytes: 0 };
  }

  async *all(): AsyncIterable<DelayedEvent> {
    const page = this.reader.sql(
      `SELECT source || '/' || sort AS key, event, payload FROM delayed
       WHERE (source, sort) > (substr(?1, 1, instr(?1, '/') - 1), substr(?1, instr(?1, '/') + 1))
         AND (source, sort) <= (substr(?2, 1, instr(?2, '/') - 1), substr(?2, instr(?2, '/') + 1))
       ORDER BY source, sort LIMIT ?3`,
    );
    const newest = this.reader.sql(
      `SELECT source || '/' || sort AS last FROM delayed ORDER BY source DESC, sort DESC LIMIT 1`,
    );
    const rows = pagesByKey<Row>(
      newest.get<{ last: string }>()?.last,
      (after, last, limit) => page.all(after, last, limit),
      ({ key }) => key,
    );
    for (const row of rows) yield eventOf(row);
  }
}

/** `[source, sortable event id, …]` */
const keysOf = (events: readonly DelayedKey[]): string[] =>
  events.flatMap(({ sourceId, eventId }) => [sourceId, delayedSort(eventId)]);

const eventOf = ({ event, payload }: Pick<Row, 'event' | 'payload'>): DelayedEvent => ({
  ...(JSON.parse(event) as Omit<DelayedEvent, 'payload'>),
  payload,
});
