import { Argument, type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { type Fields, fieldText, textOf } from './json.js';
import { type ListOptions, readList } from './pages.js';
import { type Session } from './session.js';
import { type Cell, secondIn, table } from './text.js';

interface Options extends ListOptions {
  readonly q?: string;
  readonly failing?: boolean;
  readonly inactive?: boolean;
}

interface Kind {
  readonly path: (session: Session) => Promise<string> | string;
  readonly columns: readonly (readonly [heading: string, cell: (item: Fields, context: Context) => string | Cell])[];
  /** Whether the API searches the list. */
  readonly isSearched?: boolean;
  /** Whether the API knows which of them fail. */
  readonly tellsFailing?: boolean;
  /** Whether the API lists the inactive ones alone. */
  readonly tellsInactive?: boolean;
}

const text =
  (key: string) =>
  (item: Fields): string =>
    textOf(item[key]);

const state = ({ active }: Fields): Cell =>
  active === true ? { text: 'active', as: 'good' } : { text: 'inactive', as: 'dim' };

const second =
  (key: string) =>
  (item: Fields, { look }: Context): string =>
    secondIn(item[key], look);

const below =
  (list: string) =>
  async (session: Session): Promise<string> =>
    `/v1/workspaces/${await session.workspaceId()}/${list}`;

const KINDS = {
  sources: {
    path: below('sources'),
    isSearched: true,
    tellsFailing: true,
    tellsInactive: true,
    columns: [
      ['NAME', text('name_slug')],
      ['ID', text('id')],
      ['STATE', state],
      ['CREATED', second('created_at')],
    ],
  },
  components: {
    path: below('components'),
    isSearched: true,
    columns: [
      ['NAME', text('name')],
      ['KEY', text('key')],
      ['ID', text('id')],
      ['TYPE', text('type')],
      ['VERSION', text('version')],
      ['SAVED', second('updated_at')],
    ],
  },
  webhooks: {
    path: below('webhooks'),
    isSearched: true,
    tellsFailing: true,
    tellsInactive: true,
    columns: [
      ['NAME', text('name')],
      ['ID', text('id')],
      ['STATE', state],
      ['URL', text('url')],
    ],
  },
  subscriptions: {
    path: below('subscriptions'),
    columns: [
      ['ID', text('id')],
      ['EMITTER', text('emitter_id')],
      ['CHANNEL', text('event_name')],
      ['LISTENER', text('listener_id')],
    ],
  },
  accounts: {
    path: below('accounts'),
    columns: [
      ['NAME', text('name')],
      ['ID', text('id')],
      ['APP', ({ app }) => fieldText(app, 'name_slug')],
      ['STATE', ({ dead }) => (dead === true ? { text: 'dead', as: 'bad' } : { text: 'alive', as: 'good' })],
    ],
  },
  stores: {
    path: () => '/v1/data_stores',
    columns: [
      ['NAME', text('name')],
      ['ID', text('id')],
      ['CREATED', second('created_at')],
    ],
  },
  workflows: {
    path: below('workflows'),
    isSearched: true,
    tellsInactive: true,
    columns: [
      ['NAME', text('name')],
      ['ID', text('id')],
      ['STATE', state],
      ['VERSION', text('version')],
    ],
  },
  apps: {
    path: () => '/v1/apps',
    isSearched: true,
    columns: [
      ['NAME', text('name')],
      ['SLUG', text('name_slug')],
      ['ID', text('id')],
    ],
  },
} satisfies Readonly<Record<string, Kind>>;

export const addListOptions = (command: Command): Command =>
  command
    .option('-n, --number <count>', 'how many (default: 20)')
    .option('--after <cursor>', 'go on after this place, which the last line of the list before it names')
    .option('--all', 'all of them');

export const registerList = (program: Command): void => {
  const command = addListOptions(
    program
      .command('list')
      .description('Lists resources of the workspace, newest first.')
      .addArgument(new Argument('[type]', 'what to list').choices(['so', ...Object.keys(KINDS)]).default('sources')),
  )
    .option('--q <text>', 'only sources, components, webhooks, workflows or apps whose name has this text')
    .option('--failing', 'only sources and webhooks that failed in the last 24 hours')
    .option('--inactive', 'only sources, webhooks or workflows that are not active');
  authorCommand<Options>(command, list);
};

const list = async (context: Context, [type = 'sources']: readonly string[], options: Options): Promise<Told> => {
  const kind: Kind = KINDS[(type === 'so' ? 'sources' : type) as keyof typeof KINDS];
  const { q, failing = false, inactive = false, ...page } = options;
  if (q !== undefined && kind.isSearched !== true)
    throw wrongUsage(`--q searches sources, components, webhooks, workflows and apps, not ${type}`);
  if (failing && kind.tellsFailing !== true) throw wrongUsage(`--failing lists sources and webhooks, not ${type}`);
  if (inactive && kind.tellsInactive !== true)
    throw wrongUsage(`--inactive lists sources, webhooks and workflows, not ${type}`);
  const query = { q, state: failing ? 'failing' : undefined, active: inactive ? 'false' : undefined };
  const session = await context.session();
  const { items, pageInfo, hints } = await readList(session, await kind.path(session), page, query);
  return {
    data: items,
    pageInfo,
    lines: table(
      kind.columns.map(([heading]) => heading),
      items.map((item) => kind.columns.map(([, cell]) => cell(item, context))),
      context.look,
    ),
    hints,
  };
};
