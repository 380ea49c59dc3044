/**
 * An engine answers, and may not be used as it is set up. Waiting for it does not help: the process ends, and the
 * message says what to change.
 */
export class RefusedStart extends Error {
  override readonly name = 'RefusedStart';
}
