import { RefusedStart } from '#libs/config/refused-start.js';
import { withDeadline } from '#libs/async/deadline.js';
import { type Connection } from './connection.js';

/** First version whose subscriptions report the end of the history, which readers rely on (docs/adr/0013). */
const LEAST = [23, 10] as const;

/**
 * Rejects with RefusedStart, naming the version, when the server is too old. Rejects when the server does not state its
 * version.
 */
export const refuseOldServer = async (
  { client, server }: Pick<Connection, 'client' | 'server'>,
  ms: number,
): Promise<void> => {
  const version = await withDeadline(versionOf(client), ms, 'the version of the server');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])) return;
  throw new RefusedStart(`EventStoreDB at ${server} is of version ${version}; ${LEAST.join('.')} or later is needed`);
};

/** `unknown` from servers before 21.10. The client keeps the answer for other uses. */
const versionOf = async (client: object): Promise<string> => {
  if (!hasCapabilities(client)) throw new Error('this client does not ask servers for their version');
  return (await client.capabilities).serverVersion;
};

const hasCapabilities = (
  client: object,
): client is { readonly capabilities: Promise<{ readonly serverVersion: string }> } => 'capabilities' in client;
