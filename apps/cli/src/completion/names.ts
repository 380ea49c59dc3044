import { contextOf } from '../author/context.js';
import { type Globals } from '../author/globals.js';
import { type Fields, fieldText } from '../author/json.js';
import { readList } from '../author/pages.js';
import { type Session } from '../author/session.js';
import { type Candidate } from './candidates.js';

/** A shell waits for a completion, and its user with it. */
const LONGEST_MS = 300;
const MOST = '100';

/** Candidates of the kind that a command names, by the server of the command. None when it does not answer in time. */
export const namesOf = async (kind: string, globals: Globals): Promise<readonly Candidate[]> => {
  const context = contextOf({ ...globals, input: false });
  if (kind === 'profile') return Object.keys(context.profiles.read().profiles).map((value) => plain(value, ''));
  const lists = LISTS[kind];
  if (lists === undefined) return [];
  const session = await context.session();
  const read = Promise.all(lists.map((list) => list(session)));
  const late = new Promise<readonly (readonly Candidate[])[]>((resolve) => {
    setTimeout(resolve, LONGEST_MS, []).unref();
  });
  return (await Promise.race([read, late])).flat();
};

type List = (session: Session) => Promise<readonly Candidate[]>;

const listOf =
  (path: (session: Session) => string | Promise<string>, name: string): List =>
  async (session) => {
    const { items } = await readList(session, await path(session), { number: MOST });
    return items.map((item) => ofItem(item, name));
  };

/** A name that a shell would have to quote is no candidate, the id is. Members of a workspace choose names. */
const ofItem = (item: Fields, key: string): Candidate => {
  const [name, id] = [fieldText(item, key), fieldText(item, 'id')];
  return SAFE.test(name) ? plain(name, id) : plain(id, '');
};

const plain = (value: string, description: string): Candidate => ({ value, description });

export const SAFE = /^[\w@.][\w@.+-]*$/;

const sources = listOf(async (session) => `/v1/workspaces/${await session.workspaceId()}/sources`, 'name_slug');
const webhooks = listOf(() => '/v1/users/me/webhooks', 'name');
const workspaces: List = async (session) =>
  (await session.me()).workspaces.map(({ id, name }) => ofItem({ id, name }, 'name'));

const LISTS: Readonly<Record<string, readonly List[]>> = {
  source: [sources],
  sources: [sources],
  emitter: [sources],
  listener: [sources, webhooks],
  what: [sources, webhooks],
  webhook: [webhooks],
  store: [listOf(() => '/v1/data_stores', 'name')],
  account: [listOf(async (session) => `/v1/workspaces/${await session.workspaceId()}/accounts`, 'name')],
  workspace: [workspaces],
};
