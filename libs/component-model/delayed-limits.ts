/** What waits in the channel `$in` of one source. */
export interface WaitingEvents {
  readonly count: number;
  /** UTF-8 bytes of the payloads. */
  readonly bytes: number;
}

/** Limits of the events that wait for one source (docs/reference/limits.md#delayed-events). */
export const DELAYED_LIMITS = { events: 10_000, bytes: 64 * 1024 * 1024 } as const;

/** Whether one more event, with a payload of so many bytes, may wait. */
export const mayWait = ({ count, bytes }: WaitingEvents, payloadBytes: number): boolean =>
  count + 1 <= DELAYED_LIMITS.events && bytes + payloadBytes <= DELAYED_LIMITS.bytes;

/** Whether more than half of what may wait does. */
export const isHalfFull = ({ count, bytes }: WaitingEvents): boolean =>
  count > DELAYED_LIMITS.events / 2 || bytes > DELAYED_LIMITS.bytes / 2;

/** Sentences for the author of a component whose event was refused. */
export const noRoomToWait = ({ count, bytes }: WaitingEvents): string =>
  `${count} events with ${bytes} bytes wait in $in, and at most ${DELAYED_LIMITS.events} events with ` +
  `${DELAYED_LIMITS.bytes} bytes may wait for one source. Cancel some with ` +
  'DELETE /v1/sources/{id}/events?event_name=$in, or emit with delivery_ts later';
