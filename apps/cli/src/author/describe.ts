import { type Command } from 'commander';
import { CommandFailure, isMissing } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { type Fields, fieldText, isFields, jsonLine, textOf } from './json.js';
import { webhookNamed } from './names.js';
import { readList } from './pages.js';
import { type Session, withQuery } from './session.js';
import { sourceNamed } from './sources.js';
import { type Line, momentOf } from './text.js';

export const registerDescribe = (program: Command): void => {
  authorCommand(
    program
      .command('describe')
      .description(
        'Tells about a source, webhook, workflow or component: a source by id or name, a webhook by id or exact name, ' +
          'the others by id, a component also by key.',
      )
      .argument('<what>', 'dc_…, wh_…, p_…, sc_…, a name or a key'),
    describe,
  );
};

const describe = async (context: Context, [what = '']: readonly string[]): Promise<Told> => {
  const session = await context.session();
  const found = await described(session, what);
  const more = fieldText(found, 'id').startsWith('dc_') ? await ofSource(context, session, found) : [];
  return { data: found, lines: [...fieldLines(context, found), ...more] };
};

/** Ids say what they are of. A name is looked for among sources, then webhooks, then components. */
export const described = async (session: Session, what: string): Promise<Fields> => {
  const read = async (path: string): Promise<Fields> => dataOf(await session.request({ method: 'GET', path }));
  const name = encodeURIComponent(what);
  if (/^wh_\w+$/.test(what)) return read(`/v1/webhooks/${name}`);
  if (/^p_\w+$/.test(what)) return read(`/v1/workflows/${name}`);
  if (/^sc_\w+$/.test(what)) return read(withQuery(`/v1/components/${name}`, { exclude: 'code' }));
  try {
    return (await sourceNamed(session, what)).fields;
  } catch (error) {
    if (!isMissing(error) || /^dc_\w+$/.test(what)) throw error;
    return (await webhookNamed(session, what)) ?? (await component(read, name)) ?? nothing(what);
  }
};

const dataOf = ({ data }: Fields): Fields => (isFields(data) ? data : {});

const component = async (read: (path: string) => Promise<Fields>, key: string): Promise<Fields | undefined> => {
  try {
    return await read(withQuery(`/v1/components/${key}`, { exclude: 'code' }));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

const nothing = (what: string): never => {
  throw new CommandFailure({
    exit: 4,
    code: 'not_found',
    message: `nothing is called ${JSON.stringify(what.slice(0, 100))}. "sluice list" shows the sources.`,
    next: 'sluice list',
  });
};

const SECONDS = /_at$/;

const fieldLines = ({ look }: Context, found: Fields): readonly Line[] =>
  Object.entries(found).map(([key, value]) => {
    const shown = SECONDS.test(key) && typeof value === 'number' ? momentOf(value * 1_000, look) : valueText(value);
    return pair(key, shown);
  });

const valueText = (value: unknown): string =>
  isFields(value) || Array.isArray(value) ? jsonLine(value) : textOf(value);

const pair = (name: string, shown: string): Line => [{ text: name.padEnd(18), as: 'dim' }, ` ${shown}`];

/** What is around a source. */
const ofSource = async (context: Context, session: Session, source: Fields): Promise<readonly Line[]> => {
  const id = fieldText(source, 'id');
  const props = isFields(source['configured_props']) ? Object.values(source['configured_props']) : [];
  const endpoints = props.map((prop) => fieldText(prop, 'endpoint_url')).filter((url) => url !== '');
  const path = `/v1/workspaces/${await session.workspaceId()}/subscriptions`;
  const { items } = await readList(session, path, { all: true });
  const listeners = items.filter((each) => each['emitter_id'] === id).map((each) => fieldText(each, 'listener_id'));
  const newest = async (list: string): Promise<string> => {
    const {
      items: [event],
    } = await readList(session, `/v1/sources/${id}/${list}`, { number: '1' });
    const at = event?.['indexed_at_ms'];
    return typeof at === 'number' ? `${momentOf(at, context.look)}  ${jsonLine(event?.['event'])}` : 'none is kept';
  };
  return [
    ...endpoints.map((url) => pair('endpoint', url)),
    pair('listeners', listeners.length === 0 ? 'none' : listeners.join(', ')),
    pair('last event', await newest('event_summaries')),
    pair('last error', await newest('$errors/event_summaries')),
  ];
};
