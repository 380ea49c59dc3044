import { CommandFailure } from '../failure.js';
import { LOOPBACK } from '../server.js';
import { confirmed } from '../confirm.js';
import { type Context } from '../context.js';
import { Session } from '../session.js';
import { startOwnServer } from './own-server.js';

/** The server of a session of `sluice dev`. */
export interface Place {
  readonly session: Session;
  /** As `.sluice/dev.json` names it. */
  readonly server: string;
  close(): Promise<void>;
}

/**
 * The server that a key is given for, else one of its own, with its data in the folder of the project. A server that is
 * not on this computer is confirmed once a folder. Rejects with CommandFailure.
 */
export const placeOf = async (context: Context, isOwn: boolean, folder: string): Promise<Place> => {
  const session = isOwn ? undefined : await givenSession(context);
  if (session === undefined) {
    const own = await startOwnServer(folder);
    const tell = context.globals.verbose ? { tell: (text: string) => context.io.err(text) } : {};
    const { url, apiKey } = own;
    return { session: new Session({ url, apiKey, ...tell }, null, null), server: 'own', close: () => own.stop() };
  }
  const { url } = session.server;
  if (!LOOPBACK.test(new URL(url).hostname)) await confirmElsewhere(context, url, folder);
  return { session, server: url, close: () => Promise.resolve() };
};

/** Undefined where there is no key, unless a server is named. */
const givenSession = async (context: Context): Promise<Session | undefined> => {
  try {
    return await context.session();
  } catch (error) {
    const isNoKey = error instanceof CommandFailure && error.code === 'no_key';
    if (isNoKey && context.globals.url === undefined) return undefined;
    throw error;
  }
};

const confirmElsewhere = async (context: Context, url: string, folder: string): Promise<void> => {
  const known = context.profiles.read();
  const { origin } = new URL(url);
  if (Object.hasOwn(known.folders, folder) && known.folders[folder] === origin) return;
  await confirmed(context, `Deploy on ${origin} at each save? With --own a server on this computer is used.`);
  context.profiles.write({ ...known, folders: { ...known.folders, [folder]: origin } });
};
