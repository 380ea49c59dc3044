export const ERRORS_CHANNEL = '$errors';
export const LOGS_CHANNEL = '$logs';
/** Channel of the events that wait (docs/reference/component-model.md#emit-delivery-ts). */
export const DELAYED_CHANNEL = '$in';
/** Channel of a workspace: what the platform did to its resources (docs/reference/rest-api.md#platform-events). */
export const PLATFORM_CHANNEL = '$platform';
/** Channel of a workflow: what its steps send with `$.send.sse`. No listener gets it. */
export const SSE_CHANNEL = '$sse';
/** Channels on which no component can emit. */
export const PLATFORM_CHANNELS: ReadonlySet<string> = new Set([
  ERRORS_CHANNEL,
  LOGS_CHANNEL,
  DELAYED_CHANNEL,
  PLATFORM_CHANNEL,
  SSE_CHANNEL,
]);

/** Largest channel name in UTF-8 bytes, for `$emit` and for subscriptions (docs/reference/limits.md#channel-name). */
export const MAX_CHANNEL_BYTES = 1_024;

/** Size of a channel name above the limit; undefined for one within it. */
export const tooManyBytes = (channel: string): number | undefined => {
  // A UTF-16 unit has at most 3 bytes, so short names need not be measured.
  if (channel.length * 3 <= MAX_CHANNEL_BYTES) return undefined;
  const bytes = Buffer.byteLength(channel);
  return bytes > MAX_CHANNEL_BYTES ? bytes : undefined;
};
