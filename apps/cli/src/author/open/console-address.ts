import { wrongUsage } from '../failure.js';
import { type Session } from '../session.js';

/** Pages of the console by the prefix of the ids that they show. */
const PAGES: Readonly<Record<string, string>> = { dc: 'sources', wh: 'webhooks', p: 'workflows' };

/** Where the console shows a resource. Without an id, its first page. Throws CommandFailure. */
export const consoleAddress = ({ server }: Session, id?: string): string => {
  if (id === undefined) return `${server.url}/#/`;
  const [prefix = ''] = id.split('_', 1);
  const page = Object.hasOwn(PAGES, prefix) ? PAGES[prefix] : undefined;
  if (page === undefined)
    throw wrongUsage(`the console has pages of sources, webhooks and workflows, and not of ${id}`);
  return `${server.url}/#/${page}/${id}`;
};
