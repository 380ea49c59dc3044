import { EventStoreDBClient } from '@eventstore/db-client';
import { describe, expect, it } from '@jest/globals';
import { RefusedStart } from '#libs/config/refused-start.js';
import { refuseOldServer } from './server-version.js';

/** The answer of a server of that version. Every spec that opens a store asks a real server. */
const serverOf = (serverVersion: string): Parameters<typeof refuseOldServer>[0] => {
  const client = EventStoreDBClient.connectionString('esdb://127.0.0.1:1?tls=false');
  Object.defineProperty(client, 'capabilities', { value: Promise.resolve({ serverVersion }) });
  return { client, server: 'here:2113' };
};

describe('the version of a server', () => {
  it.each(['22.10.5.0', '23.6.0.0', '5.0.11.0', 'unknown'])('%s is refused, and says so', async (version) => {
    const refused = refuseOldServer(serverOf(version), 1_000);
    await expect(refused).rejects.toBeInstanceOf(RefusedStart);
    await expect(refused).rejects.toThrow(
      `EventStoreDB at here:2113 is of version ${version}; 23.10 or later is needed`,
    );
  });

  it.each(['23.10.0.0', '24.2.0.0'])('%s is taken', async (version) => {
    await refuseOldServer(serverOf(version), 1_000);
  });
});
