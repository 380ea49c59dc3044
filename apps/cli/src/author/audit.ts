import { type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { type Fields, fieldText, objectsIn } from './json.js';
import { addListOptions } from './list.js';
import { type ListOptions, readList } from './pages.js';
import { withQuery } from './session.js';
import { timeGiven } from './span.js';
import { momentOf, table } from './text.js';

interface Options extends ListOptions {
  readonly since?: string;
  readonly kind?: string;
  readonly actor?: string;
  readonly export?: boolean;
}

export const registerAudit = (program: Command): void => {
  const command = addListOptions(
    program
      .command('audit')
      .description('Lists what happened in the workspace, newest first, or to one resource, oldest first.')
      .argument('[id]', 'id of a resource of any kind, also of a deleted one'),
  )
    .option('--since <time>', 'from then on: a span like 2h or 7d back from now, or a time in ISO 8601')
    .option('--kind <kind>', 'kind of resource, such as source')
    .option('--actor <id>', 'who did it: u_…, system or operator')
    .option('--export', 'all of it as lines of JSON');
  authorCommand<Options>(command, audit);
};

const audit = async (context: Context, [id]: readonly string[], options: Options): Promise<Told> => {
  const { since, kind, actor } = options;
  const filters = { since: timeGiven('--since', since), kind, actor };
  if (id !== undefined) return ofResource(context, id, options);
  const session = await context.session();
  const path = `/v1/workspaces/${await session.workspaceId()}/audit`;
  if (options.export === true) {
    if (options.number !== undefined || options.after !== undefined || options.all === true)
      throw wrongUsage('--export writes all: leave out -n, --after and --all');
    const raw = await session.text({ method: 'GET', path: withQuery(`${path}/export`, filters) });
    return { data: undefined, lines: [], raw };
  }
  const { items, pageInfo, hints } = await readList(session, path, options, filters);
  return { data: items, pageInfo, lines: linesOf(context, items), hints };
};

const ofResource = async (context: Context, id: string, options: Options): Promise<Told> => {
  const { since, kind, actor, export: isExport } = options;
  if ([since, kind, actor, isExport].some((given) => given !== undefined))
    throw wrongUsage('--since, --kind, --actor and --export are for the whole workspace: leave out the id');
  const path = `/v1/audit/${encodeURIComponent(id)}`;
  const { items, pageInfo, hints } = await readList(await context.session(), path, options);
  return { data: items, pageInfo, lines: linesOf(context, items), hints };
};

const linesOf = ({ look }: Context, entries: readonly Fields[]): Told['lines'] => {
  const rows = entries.map((entry) => {
    const at = Date.parse(fieldText(entry, 'at'));
    return [
      Number.isNaN(at) ? '' : momentOf(at, look),
      fieldText(entry, 'type'),
      fieldText(entry, 'resource_id'),
      fieldText(entry['actor'], 'user_id'),
      changesOf(entry['changes']),
    ];
  });
  return table(['TIME', 'WHAT', 'RESOURCE', 'WHO', 'CHANGED'], rows, look);
};

const MOST_SHOWN = 5;

/** Names what changed. */
const changesOf = (changes: unknown): string => {
  const paths = objectsIn(changes).map((change) => fieldText(change, 'path'));
  const more = paths.length > MOST_SHOWN ? ', …' : '';
  return `${paths.slice(0, MOST_SHOWN).join(', ')}${more}`;
};
