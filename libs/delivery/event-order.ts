import { deliveryHeaders } from '#libs/stream-log/envelopes.js';
import { type Delivery } from './delivery-records.js';
import { type DueStore } from '#libs/due/due-store.js';

/** A delivery of an ordered webhook that waits in the due store, or came from it and has not ended. */
interface Waiting {
  readonly place: Place;
  readonly dueAt: number;
}

/** Position of an event among those of a webhook: the time when the router read it, then its id within its emitter. */
type Place = readonly [at: number, ms: number, sequence: number];

interface Known {
  readonly waiting: Map<string, Waiting>;
  /** Id of the earliest delivery; undefined when it must be computed. */
  first: string | undefined;
  /** Epoch milliseconds of the last read of the due store. */
  readAt: number;
  reading: Promise<void> | undefined;
}

/** How long an entry may be overdue before the due store is read again. Another process may have ended its delivery. */
const OVERDUE_MS = 30_000;
/** Pause of a delivery whose predecessor is due or in flight. */
const NEARLY_MS = 250;

/**
 * Keeps the deliveries of ordered webhooks in order while retries wait. An ordered webhook has one delivery in flight.
 * This class puts off those behind a delivery that waits for its next attempt (docs/reference/delivery.md#ordered).
 */
export class EventOrder {
  private readonly webhooks = new Map<string, Known>();

  constructor(private readonly due: Pick<DueStore, 'waitingOf'>) {}

  /**
   * Time of the next try while an earlier delivery waits; undefined when it is this one's turn. After a promise, ask
   * again.
   */
  heldUntil({ headers, ...delivery }: Delivery, now: number): number | undefined | Promise<void> {
    const known = this.webhooks.get(headers.webhook) ?? this.begin(headers.webhook);
    if (known.readAt === 0) return this.read(headers.webhook, known, now);
    const first = firstOf(known);
    if (first === undefined || first.id === headers.id) return undefined;
    const { place, dueAt } = first.entry;
    if (compare(placeOf({ headers, ...delivery }), place) <= 0) return undefined;
    if (now > Math.max(dueAt, known.readAt) + OVERDUE_MS) return this.read(headers.webhook, known, now);
    let last = now + NEARLY_MS;
    for (const each of known.waiting.values()) last = Math.max(last, each.dueAt);
    // Due after all that wait, so that deliveries fall due in the order of their arrival.
    return last + 1;
  }

  /** Call when a delivery is put into the due store. */
  waits(delivery: Delivery, dueAt: number): void {
    const known = this.webhooks.get(delivery.headers.webhook);
    if (!known) return;
    known.waiting.set(delivery.headers.id, { place: placeOf(delivery), dueAt });
    known.first = undefined;
  }

  /** Call when a delivery has ended, with success or not. */
  ended({ headers }: Delivery): void {
    const known = this.webhooks.get(headers.webhook);
    if (!known?.waiting.delete(headers.id)) return;
    if (known.first === headers.id) known.first = undefined;
  }

  /** Call when another worker may own webhooks that this one owned. */
  forget(): void {
    this.webhooks.clear();
  }

  private begin(webhookId: string): Known {
    const known: Known = { waiting: new Map(), first: undefined, readAt: 0, reading: undefined };
    this.webhooks.set(webhookId, known);
    return known;
  }

  /** Rejects when the due store cannot be read. The next delivery tries again. */
  private read(webhookId: string, known: Known, now: number): Promise<void> {
    known.reading ??= this.due
      .waitingOf(webhookId)
      .then((entries) => {
        known.waiting.clear();
        for (const { dueAt, ...entry } of entries) {
          const headers = deliveryHeaders(entry);
          const { id } = headers;
          if ((known.waiting.get(id)?.dueAt ?? 0) > dueAt) continue;
          known.waiting.set(id, { place: placeOf({ headers, at: Number(headers.at) }), dueAt });
        }
        known.first = undefined;
        known.readAt = now;
      })
      .finally(() => (known.reading = undefined));
    return known.reading;
  }
}

const placeOf = ({ headers, at }: Pick<Delivery, 'headers' | 'at'>): Place => {
  const [ms = '', sequence = ''] = headers.event.split('-');
  return [at, Number(ms) || 0, Number(sequence) || 0];
};

const compare = (one: Place, other: Place): number => one[0] - other[0] || one[1] - other[1] || one[2] - other[2];

const firstOf = (known: Known): { readonly id: string; readonly entry: Waiting } | undefined => {
  if (known.first === undefined) {
    let least: Waiting | undefined;
    for (const [id, entry] of known.waiting) {
      if (least !== undefined && compare(entry.place, least.place) >= 0) continue;
      [least, known.first] = [entry, id];
    }
  }
  const entry = known.first === undefined ? undefined : known.waiting.get(known.first);
  return entry && known.first !== undefined ? { id: known.first, entry } : undefined;
};
