import { CommandFailure } from '../workflows/failure.js';
import { type Fields, fieldText, isFields } from './json.js';
import { readList } from './pages.js';
import { type Session } from './session.js';
import { sourceNamed } from './sources.js';

/** The webhook with this id or exact name, or undefined. Rejects with 2, and lists them, when several have the name. */
export const webhookNamed = async (session: Session, name: string): Promise<Fields | undefined> => {
  if (/^wh_\w+$/.test(name)) {
    const { data } = await session.request({ method: 'GET', path: `/v1/webhooks/${name}` });
    return isFields(data) ? data : {};
  }
  const { items } = await readList(session, '/v1/users/me/webhooks', { all: true });
  const [found, ...others] = items.filter((webhook) => webhook['name'] === name);
  if (others.length === 0) return found;
  throw new CommandFailure({
    exit: 2,
    code: 'usage',
    message: `several webhooks are called ${JSON.stringify(name.slice(0, 100))}: give the id`,
    lines: [found ?? {}, ...others].map((each) => `${fieldText(each, 'id')}  ${fieldText(each, 'url')}`),
  });
};

/** The webhook, which must be there. */
export const knownWebhook = async (session: Session, name: string): Promise<Fields> => {
  const found = await webhookNamed(session, name);
  if (found !== undefined) return found;
  throw new CommandFailure({
    exit: 4,
    code: 'webhook_not_found',
    status: 404,
    message: `no webhook is called ${JSON.stringify(name.slice(0, 100))}. "sluice list webhooks" shows all.`,
    next: 'sluice list webhooks',
  });
};

/** The id that a name of an emitter or a listener means: ids and patterns as they are, sources, then webhooks. */
export const endNamed = async (session: Session, name: string): Promise<string> => {
  if (/^(?:dc|wh|p|u|o)_\w+$/.test(name) || name.includes('*') || name.startsWith('$')) return name;
  try {
    return (await sourceNamed(session, name)).id;
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.exit !== 4) throw error;
    const webhook = await webhookNamed(session, name);
    if (webhook === undefined) throw error;
    return fieldText(webhook, 'id');
  }
};
