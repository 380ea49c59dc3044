import { endsWithin } from '#libs/async/deadline.js';
import { InFlightMap } from '#libs/kernel/in-flight-map.js';
import { type Delivery } from './delivery-records.js';

interface InFlightDelivery {
  readonly delivery: Delivery;
  /** Aborts the request while one is in flight. */
  abort: (() => void) | undefined;
  /** Functions that acknowledge the repeats of this delivery. */
  readonly repeats: (() => void)[];
  /** Called when the delivery is no longer in flight. */
  readonly waiting: (() => void)[];
}

const isLater = (one: Delivery, than: Delivery): boolean =>
  one.attempt === than.attempt ? one.defers > than.defers : one.attempt > than.attempt;

/** The deliveries in flight of one lane: claimed, and without a durable outcome yet. */
export class LaneWork {
  private readonly inFlight = new InFlightMap<string, InFlightDelivery>();
  private onEmpty: (() => void) | undefined;
  private given = false;

  /** True once another worker owns the lane. This worker may then write or acknowledge nothing of it. */
  get gone(): boolean {
    return this.given;
  }

  /**
   * Allows one attempt of a delivery at a time. A delivery that is already in flight is a `repeat`: a restarted router
   * or pump published it twice. It is acknowledged with the first. A later attempt may fall due before the result of
   * the earlier one is durable. The returned promise waits for that result, after which the caller asks again.
   */
  claim(delivery: Delivery, acknowledge: () => void): 'first' | 'repeat' | Promise<void> {
    const { id } = delivery.headers;
    const first = this.inFlight.get(id);
    if (!first) {
      this.inFlight.set(id, { delivery, abort: undefined, repeats: [], waiting: [] });
      return 'first';
    }
    if (isLater(delivery, first.delivery)) return new Promise((resolve) => first.waiting.push(resolve));
    first.repeats.push(acknowledge);
    return 'repeat';
  }

  sending(deliveryId: string, abort: () => void): void {
    const one = this.inFlight.get(deliveryId);
    if (one) one.abort = abort;
  }

  /** Call when the delivery's result is durable. */
  recorded(deliveryId: string): void {
    for (const acknowledge of this.inFlight.get(deliveryId)?.repeats ?? []) acknowledge();
    this.left(deliveryId);
  }

  /** Call when this worker will not record the delivery's result. The log will redeliver it. */
  left(deliveryId: string): void {
    const one = this.inFlight.delete(deliveryId);
    for (const resume of one?.waiting ?? []) resume();
    if (this.inFlight.size === 0) this.onEmpty?.();
  }

  /**
   * Waits at most `ms` until none is in flight, then aborts the open requests, so that the next owner can send them.
   */
  async drain(ms: number): Promise<void> {
    if (this.inFlight.size > 0) await endsWithin(new Promise<void>((resolve) => (this.onEmpty = resolve)), ms);
    this.given = true;
    for (const { abort, waiting } of [...this.inFlight.values()]) {
      abort?.();
      for (const resume of waiting) resume();
    }
  }
}
