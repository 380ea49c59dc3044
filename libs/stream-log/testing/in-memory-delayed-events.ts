import {
  type DelayedEvent,
  type DelayedEvents,
  type DelayedKey,
  type DelayedPage,
  type DelayedRange,
  delayedSort,
  type DelayedUsage,
} from '../delayed-events.js';

/** In-memory DelayedEvents for specs, with failures on demand. */
export class InMemoryDelayedEvents implements DelayedEvents {
  private readonly waiting = new Map<string, DelayedEvent>();
  /** Awaited before each change: throw or wait here. */
  beforeChange: () => Promise<void> | void = () => undefined;

  async put(events: readonly DelayedEvent[]): Promise<void> {
    await this.beforeChange();
    for (const event of events) this.waiting.set(keyOf(event), event);
  }

  async find(sourceId: string, eventId: string): Promise<DelayedEvent | undefined> {
    return this.waiting.get(keyOf({ sourceId, eventId }));
  }

  async remove(events: readonly DelayedKey[]): Promise<void> {
    await this.beforeChange();
    for (const event of events) this.waiting.delete(keyOf(event));
  }

  async removeRange(sourceId: string, range: DelayedRange): Promise<readonly string[]> {
    await this.beforeChange();
    const removed = this.within(sourceId, range);
    for (const event of removed) this.waiting.delete(keyOf(event));
    return removed.map(({ eventId }) => delayedSort(eventId));
  }

  async page(
    sourceId: string,
    { limit, after, before }: { limit: number; after?: string; before?: string },
  ): Promise<DelayedPage> {
    const all = this.within(sourceId, {});
    const found = all.filter(
      ({ eventId }) =>
        (after === undefined || delayedSort(eventId) < after) &&
        (before === undefined || delayedSort(eventId) > before),
    );
    const upwards = before !== undefined && after === undefined;
    const events = upwards ? found.slice(0, limit).reverse() : found.reverse().slice(0, limit);
    return { events, total: all.length };
  }

  async anyIn(sourceId: string, range: DelayedRange): Promise<boolean> {
    return this.within(sourceId, range).length > 0;
  }

  async usage(sourceId: string): Promise<DelayedUsage> {
    const all = this.within(sourceId, {});
    return { count: all.length, bytes: all.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0) };
  }

  async *all(): AsyncIterable<DelayedEvent> {
    yield* [...this.waiting.values()];
  }

  private within(sourceId: string, { from = '', to = '~' }: DelayedRange): DelayedEvent[] {
    const sorted = [...this.waiting].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, event]) => event);
    return sorted.filter(
      (event) => event.sourceId === sourceId && delayedSort(event.eventId) >= from && delayedSort(event.eventId) <= to,
    );
  }
}

const keyOf = ({ sourceId, eventId }: DelayedKey): string => `${sourceId}/${delayedSort(eventId)}`;
