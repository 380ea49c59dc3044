import { wrongUsage } from '../failure.js';
import { jsonLine } from '../json.js';
import { type Prompts } from '../prompts.js';
import { consoleAddress } from '../open/console-address.js';
import { openInBrowser } from '../open/open-in-browser.js';
import { type DevSource } from './dev-source.js';
import { type FollowedSource } from './follow-source.js';
import { type Key } from './keys.js';

/** What the keys of a terminal do with a source. */
export const keysOf = (
  { context, session, events }: FollowedSource,
  prompts: Prompts,
  source: DevSource,
): Readonly<Record<string, Key>> => {
  let last = events.at(-1);
  const { io } = context;
  const path = `/v1/sources/${source.id}`;
  return {
    r: { does: 'run, or send the last event again', act: () => source.run(last) },
    e: {
      does: 'edit an event and send it',
      asks: true,
      act: async () => {
        const text = await prompts.edit('Event', last ?? '{}');
        if (!isJson(text)) throw wrongUsage('that is no JSON, and nothing was sent');
        last = text;
        await source.run(last);
      },
    },
    s: {
      does: 'sample event',
      act: async () => {
        await session.request({ method: 'POST', path: `${path}/sample_emit` });
        io.err(`emitted a sample event of ${source.id}`);
      },
    },
    d: {
      does: 'db',
      act: async () => io.out(jsonLine((await session.request({ method: 'GET', path: `${path}/db` }))['data'])),
    },
    p: { does: 'pause, or go on', act: async () => io.err((await source.pause()) ? 'active' : 'paused') },
    c: {
      does: 'console',
      act: () => {
        const address = consoleAddress(session, source.id);
        io.err(address);
        openInBrowser(context, address);
        return Promise.resolve();
      },
    },
  };
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
