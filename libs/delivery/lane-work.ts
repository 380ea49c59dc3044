import { atMost } from '#libs/kernel/at-most.js';
import { type Delivery } from './delivery-records.js';

interface InFlightDelivery {
  readonly delivery: Delivery;
  /** Ends the request, while one is out. */
  abort: (() => void) | undefined;
  /** Acknowledges those that came again meanwhile. */
  readonly repeats: (() => void)[];
  /** Called when it is no longer in hand. */
  readonly waiting: (() => void)[];
}

const isLater = (one: Delivery, than: Delivery): boolean =>
  one.attempt === than.attempt ? one.defers > than.defers : one.attempt > than.attempt;

/** The deliveries of one lane that are in hand: taken, and not yet settled. */
export class LaneWork {
  private readonly inFlight = new Map<string, InFlightDelivery>();
  private onEmpty: (() => void) | undefined;
  private given = false;

  /** True once the lane is somebody else's: nothing of it is to be written or acknowledged any more. */
  get gone(): boolean {
    return this.given;
  }

  /**
   * There is one attempt of a delivery at a time. What is in hand already (published twice by a router or a schedule
   * that was restarted) is a `repeat`: what settles the first settles it. A later attempt, whose time has come before
   * the one in hand is written down, waits for that; then ask again.
   */
  take(delivery: Delivery, acknowledge: () => void): 'first' | 'repeat' | Promise<void> {
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

  /** Its result is durable. */
  recorded(deliveryId: string): void {
    for (const acknowledge of this.inFlight.get(deliveryId)?.repeats ?? []) acknowledge();
    this.left(deliveryId);
  }

  /** It is not settled here, and comes again. */
  left(deliveryId: string): void {
    const one = this.inFlight.get(deliveryId);
    this.inFlight.delete(deliveryId);
    for (const resume of one?.waiting ?? []) resume();
    if (this.inFlight.size === 0) this.onEmpty?.();
  }

  /** Waits until all is settled, at most `ms`; then ends what is still out, so that the next owner can send it. */
  async drain(ms: number): Promise<void> {
    if (this.inFlight.size > 0) await atMost(ms, new Promise<void>((resolve) => (this.onEmpty = resolve)));
    this.given = true;
    for (const { abort, waiting } of [...this.inFlight.values()]) {
      abort?.();
      for (const resume of waiting) resume();
    }
  }
}
