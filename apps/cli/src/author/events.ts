import { type Command } from 'commander';
import stringWidth from 'string-width';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { follow, followedBy, type FollowOptions } from './follow/follow.js';
import { type Fields, fieldText, isFields, jsonLine, objectsIn, textOf } from './json.js';
import { readList } from './pages.js';
import { type Session, withQuery } from './session.js';
import { sourceNamed } from './sources.js';
import { cut, harmless, type Line, momentIn, type Part } from './text.js';

interface Options extends FollowOptions {
  readonly number?: string;
  readonly channel?: string;
  readonly full?: boolean;
  readonly q?: string;
}

type Shown = (summary: Fields) => readonly Part[];

/** What a command shows of sources. */
interface Kind {
  /** Of the routes of a source. */
  readonly list: string;
  /** Of the stream of a workspace. */
  readonly stream: string;
  readonly shown: Shown;
}

export const registerEvents = (program: Command): void => {
  const command = historyCommand(program, 'events', 'Prints the newest events of a source, the oldest of them first.');
  authorCommand<Options>(
    command
      .option('--channel <name>', 'channel (default: the one without a name)')
      .option('--forward <url>', 'with -f: post each event to this address, signed as webhooks are'),
    show({ list: 'event_summaries', stream: 'events', shown: eventParts }),
  );
};

export const registerLogs = (program: Command): void => {
  authorCommand<Options>(
    historyCommand(program, 'logs', 'Prints the newest lines that a source logged, the oldest of them first.'),
    show({ list: '$logs/event_summaries', stream: 'logs', shown: logParts }),
  );
};

export const registerErrors = (program: Command): void => {
  authorCommand<Options>(
    historyCommand(
      program,
      'errors',
      'Prints the newest errors of a source or of all, the oldest of them first.',
      '[source]',
    ),
    show({ list: '$errors/event_summaries', stream: 'errors', shown: errorParts }),
  );
};

const historyCommand = (program: Command, name: string, description: string, source = '<source>'): Command =>
  program
    .command(name)
    .description(description)
    .argument(source, 'id or name')
    .option('-n, --number <count>', 'how many, at most 100 (default: 10)')
    .option('--q <text>', 'only those with this text in their summary, id or payload, in any case')
    .option('--full', 'whole payloads, which are cut on a terminal otherwise')
    .option('-f, --follow', 'go on with those that come, until Ctrl-C')
    .option('--count <count>', 'with -f: end after so many more')
    .option('--for <time>', 'with -f: end after a time like 30s, 15m or 2h');

const USUAL = '10';

/** Where events are from, and what of them is wanted. */
interface Wanted {
  readonly session: Session;
  readonly workspaceId: string;
  /** Undefined for all sources and workflows. */
  readonly emitterId: string | undefined;
  readonly channel: string;
  readonly q: string | undefined;
  readonly number: string;
}

const show =
  ({ list, stream, shown }: Kind) =>
  async (context: Context, [name]: readonly string[], options: Options): Promise<Told> => {
    const { number = USUAL, channel = list.slice(0, Math.max(0, list.indexOf('/'))), full = false, q } = options;
    if (!(Number(number) <= 100))
      throw wrongUsage(`-n must be an integer from 1 to 100; got ${JSON.stringify(number)}`);
    const following = followedBy(options);
    const session = await context.session();
    const source = name === undefined ? undefined : await sourceNamed(session, name);
    const emitterId = source?.id;
    const workspaceId = source === undefined ? await session.workspaceId() : fieldText(source.fields, 'owner_id');
    const history = () => newest({ session, workspaceId, emitterId, channel, q, number }, list);
    const lineFor = (summary: Fields): Line =>
      lineOf(context, summary, emitterId === undefined ? ofEmitter(shown) : shown, full);
    if (!following) {
      const { oldestFirst, pageInfo, hints } = await history();
      return { data: oldestFirst, pageInfo, hints, lines: oldestFirst.map(lineFor) };
    }
    const isShort = context.look.columns !== undefined && !full && options.forward === undefined && q === undefined;
    const query = {
      streams: stream,
      emitter_id: emitterId,
      ...(stream === 'events' ? { event_name: channel } : {}),
      ...(isShort ? {} : { expand: 'event' }),
    };
    return follow(context, following, {
      open: (...at) => session.stream(workspaceId, query, ...at),
      history: async () => (await history()).oldestFirst,
      stream,
      ...(q === undefined ? {} : { isShown: (summary: Fields) => hasText(summary, q) }),
      lineFor,
    });
  };

/** The list of a source has its newest events. A text, and the events of all, are looked for in the workspace. */
const newest = async ({ session, workspaceId, emitterId, channel, q, number }: Wanted, list: string) => {
  if (emitterId !== undefined && q === undefined) {
    const path = withQuery(`/v1/sources/${emitterId}/${list}`, {
      event_name: channel.startsWith('$') ? undefined : channel,
    });
    const { items, pageInfo } = await readList(session, withQuery(path, { expand: 'event' }), { number });
    return { oldestFirst: [...items].reverse(), pageInfo, hints: [] };
  }
  const query = { q, emitter_id: emitterId, event_name: channel, expand: 'event', limit: number };
  const path = withQuery(`/v1/workspaces/${workspaceId}/event_summaries`, query);
  const { data, page_info: pageInfo } = await session.request({ method: 'GET', path });
  const items = objectsIn(data);
  const searchedTo = isFields(pageInfo) ? pageInfo['searched_to'] : null;
  const isPart = items.length < Number(number) && typeof searchedTo === 'string';
  const hints = isPart ? ['older events were not searched: one request searches for a limited time'] : [];
  return { oldestFirst: [...items].reverse(), pageInfo, hints };
};

const hasText = ({ id, event, metadata }: Fields, q: string): boolean => {
  const summary = isFields(metadata) ? textOf(metadata['summary']) : '';
  return [textOf(id), summary, jsonLine(event)].some((text) => text.toLowerCase().includes(q.toLowerCase()));
};

const ofEmitter =
  (shown: Shown): Shown =>
  (summary) => [{ text: fieldText(summary['metadata'], 'emitter_id'), as: 'strong' }, ...shown(summary)];

const lineOf = ({ look }: Context, summary: Fields, shown: Shown, full: boolean): Line => {
  const time = momentIn(summary['indexed_at_ms'], look);
  const parts = [{ text: time, as: 'dim' as const }, ...shown(summary)];
  const line = parts.flatMap((part, n) => (n === 0 ? [part] : ['  ', part]));
  return full || look.columns === undefined ? line : fitted(line, look.columns);
};

/** Cuts a line of parts to the columns of the terminal. */
export const fitted = (line: readonly Part[], columns: number): Line => {
  let room = columns;
  return line.flatMap((part): readonly Part[] => {
    const text = harmless(typeof part === 'string' ? part : part.text);
    if (room <= 0) return [];
    const kept = cut(text, room);
    room -= kept === text ? stringWidth(text) : room;
    return [typeof part === 'string' ? kept : { text: kept, as: part.as }];
  });
};

export const eventParts: Shown = ({ event, metadata }) => {
  const channel = fieldText(metadata, 'name');
  const summary = isFields(metadata) ? textOf(metadata['summary']) : '';
  return [
    ...(channel === '' || channel.startsWith('$') ? [] : [{ text: channel, as: 'strong' as const }]),
    ...(summary === '' ? [] : [summary]),
    jsonLine(event),
  ];
};

/** The kind of a line, the run that logged it, and what it says. */
const logParts: Shown = ({ event, metadata }) => {
  if (!isFields(event)) return eventParts({ event, metadata });
  const { k, msg, ...rest } = event;
  const run = fieldText(metadata, 'invocation_id');
  const said = msg === undefined ? jsonLine(rest) : textOf(msg);
  return [{ text: textOf(k), as: 'strong' }, ...(run === '' ? [] : [{ text: run, as: 'dim' as const }]), said];
};

const errorParts: Shown = ({ event, metadata }) => {
  const error = isFields(event) && isFields(event['error']) ? event['error'] : event;
  const name = fieldText(error, 'name');
  const message = fieldText(error, 'message');
  if (name === '' && message === '') return eventParts({ event, metadata });
  const more = [message, authorsLine(fieldText(error, 'stack'))].filter((part) => part !== '');
  return [{ text: name, as: 'bad' }, ...more];
};

/** The first place in the author's code. */
const authorsLine = (stack: string): string => /^\s*at (.*)$/m.exec(stack.slice(0, 10_000))?.[1] ?? '';
