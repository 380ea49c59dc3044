import { ERRORS_CHANNEL, LOGS_CHANNEL, PLATFORM_CHANNEL } from '#libs/component-model/channels.js';
import { nearMiss } from '#libs/kernel/near-miss.js';
import { type Warning } from '#libs/kernel/warning.js';

const SPECIAL = [ERRORS_CHANNEL, LOGS_CHANNEL, PLATFORM_CHANNEL];

/** Warns of a channel whose name is nearly that of a channel of the server (docs/reference/rest-api.md#subscription-event-name). */
export const channelWarnings = (eventName: string): readonly Warning[] => {
  const meant = eventName.includes('$') || eventName.length > 4 ? nearMiss(eventName, SPECIAL) : undefined;
  if (meant === undefined) return [];
  const message = `event_name ${JSON.stringify(eventName)} is a channel of its own: "${meant}" is probably meant; the server's channels are ${SPECIAL.join(', ')}`;
  return [{ code: 'misspelt_channel', message, path: 'event_name' }];
};
