import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { bytesShown, type ListedEvent, type Shown } from '../event-summary.js';
import { EVENT_SETTINGS, type EventSettings } from '../ports.js';
import { type EventDoc, eventSummaries } from '../read-models/event-summaries.projection.js';

/** Pages of whole events, made one at a time, because many at once would share event-loop turns. */
@Injectable()
export class WholeEvents {
  private readonly pages = new SerialQueue();

  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(EVENT_SETTINGS) private readonly settings: EventSettings,
  ) {}

  /** Ends early when the next event exceeds the bytes of a page; one event alone always fits. */
  of(docs: readonly EventDoc[], shown: Shown): Promise<readonly ListedEvent[]> {
    return this.pages.run(() => this.read(docs, shown));
  }

  /** Reads the texts one by one, each in its own event-loop turn. Reads only texts that are returned. */
  private async read(docs: readonly EventDoc[], shown: Shown): Promise<readonly ListedEvent[]> {
    const events: ListedEvent[] = [];
    let left = this.settings.pageBytes;
    for (const doc of docs) {
      left -= bytesShown(shown, doc.short.length, Math.max(doc.payloadBytes, doc.short.length));
      if (left < 0 && events.length > 0) break;
      if (doc.payloadBytes === 0) {
        events.push({ doc, event: doc.short, truncated: false });
        continue;
      }
      const whole = await this.readModels.text(eventSummaries, doc.id);
      // An event without a text was removed after the page was read.
      if (whole === undefined) continue;
      const shortened = { doc, event: doc.short, truncated: true, whole };
      events.push(shown.expand ? { doc, event: whole, truncated: false } : shortened);
      await nextTurn();
    }
    return events;
  }
}
