export const ERRORS_CHANNEL = '$errors';
export const LOGS_CHANNEL = '$logs';
/** Channels on which no component can emit. */
export const PLATFORM_CHANNELS: ReadonlySet<string> = new Set([ERRORS_CHANNEL, LOGS_CHANNEL, '$in']);
