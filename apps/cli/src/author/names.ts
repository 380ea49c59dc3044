import { CommandFailure, isMissing } from './failure.js';
import { type Fields, fieldText, isFields } from './json.js';
import { readList } from './pages.js';
import { type Session } from './session.js';
import { sourceNamed } from './sources.js';

/** A kind of resource that is named by its id or its exact name. */
export interface Named {
  readonly id: RegExp;
  readonly one: (id: string) => string;
  readonly all: () => string | Promise<string>;
  readonly what: string;
  /** Of `sluice list`. */
  readonly list: string;
}

const WEBHOOK: Named = {
  id: /^wh_\w+$/,
  one: (id) => `/v1/webhooks/${id}`,
  all: () => '/v1/users/me/webhooks',
  what: 'webhook',
  list: 'webhooks',
};

/** The one with this id or exact name, or undefined. Rejects with 2, and lists them, when several have the name. */
const found = async (session: Session, name: string, { id, one, all, what }: Named): Promise<Fields | undefined> => {
  if (id.test(name)) {
    const { data } = await session.request({ method: 'GET', path: one(name) });
    return isFields(data) ? data : {};
  }
  const { items } = await readList(session, await all(), { all: true });
  const [first, ...others] = items.filter((each) => each['name'] === name);
  if (others.length === 0) return first;
  throw new CommandFailure({
    exit: 2,
    code: 'usage',
    message: `several ${what}s are called ${JSON.stringify(name.slice(0, 100))}: give the id`,
    lines: [first ?? {}, ...others].map((each) => `${fieldText(each, 'id')}  ${fieldText(each, 'url')}`.trimEnd()),
  });
};

/** The one with this id or exact name, which must be there. */
export const oneNamed = async (session: Session, name: string, kind: Named): Promise<Fields> => {
  const one = await found(session, name, kind);
  if (one !== undefined) return one;
  throw new CommandFailure({
    exit: 4,
    code: `${kind.what.replaceAll(' ', '_')}_not_found`,
    status: 404,
    message: `no ${kind.what} is called ${JSON.stringify(name.slice(0, 100))}. "sluice list ${kind.list}" shows all.`,
    next: `sluice list ${kind.list}`,
  });
};

export const webhookNamed = (session: Session, name: string): Promise<Fields | undefined> =>
  found(session, name, WEBHOOK);

/** The webhook, which must be there. */
export const knownWebhook = (session: Session, name: string): Promise<Fields> => oneNamed(session, name, WEBHOOK);

/** The id that a name of an emitter or a listener means: ids and patterns as they are, sources, then webhooks. */
export const endNamed = async (session: Session, name: string): Promise<string> => {
  if (/^(?:dc|wh|p|u|o)_\w+$/.test(name) || name.includes('*') || name.startsWith('$')) return name;
  try {
    return (await sourceNamed(session, name)).id;
  } catch (error) {
    if (!isMissing(error)) throw error;
    const webhook = await webhookNamed(session, name);
    if (webhook === undefined) throw error;
    return fieldText(webhook, 'id');
  }
};
