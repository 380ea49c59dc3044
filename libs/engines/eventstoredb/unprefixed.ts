import {
  AccessDeniedError,
  FORWARDS,
  START,
  StreamNotFoundError,
  type EventStoreDBClient,
} from '@eventstore/db-client';
import { RefusedStart } from '#libs/config/refused-start.js';
import { itemsOf } from './connection.js';
import { isOurs } from './recorded-event.js';

/**
 * Rejects with RefusedStart when `stream`, which every installation has, is there without a prefix: an installation
 * from before there was a default prefix, beside which this process would begin an empty one. Costs one read of one
 * event, whatever else the server holds.
 */
export const refuseUnprefixed = async (
  client: EventStoreDBClient,
  { server, stream, prefix }: { readonly server: string; readonly stream: string; readonly prefix: string },
): Promise<void> => {
  if (!(await holds(client, stream))) return;
  throw new RefusedStart(
    `EventStoreDB at ${server} holds an installation whose streams have no prefix, and the default prefix ` +
      `"${prefix}" would begin an empty one beside it. To keep the installation, set SLUICE_EVENTSTORE_UNPREFIXED=true ` +
      `for every process. To begin another one, set SLUICE_EVENTSTORE_PREFIX=${prefix}`,
  );
};

const holds = async (client: EventStoreDBClient, stream: string): Promise<boolean> => {
  try {
    const reading = client.readStream(stream, { direction: FORWARDS, fromRevision: START, maxCount: 1 });
    for await (const { event } of itemsOf(reading)) if (event) return isOurs(event.metadata);
    return false;
  } catch (error) {
    // Who may not read it now could not run the installation before.
    if (error instanceof StreamNotFoundError || error instanceof AccessDeniedError) return false;
    throw error;
  }
};
