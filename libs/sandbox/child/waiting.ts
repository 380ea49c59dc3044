import { mayWait, noRoomToWait, type WaitingEvents } from '#libs/component-model/delayed-limits.js';

/**
 * Count of the source's waiting events, so that `$emit` can throw (docs/reference/limits.md#delayed-events). The host
 * sends it before runs, and emits of this process add to it in between. The commit of a run decides.
 */
export class Waiting {
  private events: WaitingEvents = { count: 0, bytes: 0 };

  told(events: WaitingEvents): void {
    this.events = events;
  }

  /** Counts one more event. Throws when it may not wait. */
  add(payloadBytes: number): void {
    const { count, bytes } = this.events;
    if (!mayWait(this.events, payloadBytes))
      throw Object.assign(new Error(`$emit: delivery_ts is refused: ${noRoomToWait(this.events)}`), {
        code: 'DelayedLimitExceeded',
      });
    this.events = { count: count + 1, bytes: bytes + payloadBytes };
  }
}
