/**
 * An engine answers but cannot be used with its settings. Waiting does not help, so the process ends, and the message
 * says what to change.
 */
export class RefusedStart extends Error {
  override readonly name = 'RefusedStart';
}
