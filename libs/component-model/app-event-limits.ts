/** Limits on events of apps (docs/reference/limits.md#app-events). */
export const APP_EVENT_LIMITS = {
  /** Event names of one apphook. */
  names: 1_000,
  /** Characters of an event name, of a slug, and of the id of an account. */
  nameLength: 200,
  /** Sources that get one event. */
  sources: 1_000,
  /** Bytes of the payload, times the sources that get it. */
  totalBytes: 64 * 1024 * 1024,
} as const;
