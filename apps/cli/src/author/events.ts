import { type Command } from 'commander';
import { wrongUsage } from '../workflows/failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { type Fields, fieldText, isFields, jsonLine, textOf } from './json.js';
import { readList } from './pages.js';
import { withQuery } from './session.js';
import { sourceNamed } from './sources.js';
import { cut, harmless, type Line, momentOf, type Part } from './text.js';

interface Options {
  readonly number?: string;
  readonly channel?: string;
  readonly full?: boolean;
}

type Shown = (summary: Fields) => readonly Part[];

export const registerEvents = (program: Command): void => {
  const command = historyCommand(program, 'events', 'Prints the newest events of a source, the oldest of them first.');
  authorCommand<Options>(
    command.option('--channel <name>', 'channel (default: the one without a name)'),
    (context, [source = ''], options) => history(context, source, 'event_summaries', options, eventParts),
  );
};

export const registerLogs = (program: Command): void => {
  authorCommand<Options>(
    historyCommand(program, 'logs', 'Prints the newest lines that a source logged, the oldest of them first.'),
    (context, [source = ''], options) => history(context, source, '$logs/event_summaries', options, eventParts),
  );
};

export const registerErrors = (program: Command): void => {
  authorCommand<Options>(
    historyCommand(program, 'errors', 'Prints the newest errors of a source, the oldest of them first.'),
    (context, [source = ''], options) => history(context, source, '$errors/event_summaries', options, errorParts),
  );
};

const historyCommand = (program: Command, name: string, description: string): Command =>
  program
    .command(name)
    .description(description)
    .argument('<source>', 'id or name')
    .option('-n, --number <count>', 'how many, at most 100 (default: 10)')
    .option('--full', 'whole payloads, which are cut on a terminal otherwise');

const USUAL = '10';

const history = async (
  context: Context,
  name: string,
  list: string,
  { number = USUAL, channel, full = false }: Options,
  shown: Shown,
): Promise<Told> => {
  if (!(Number(number) <= 100)) throw wrongUsage(`-n must be an integer from 1 to 100; got ${JSON.stringify(number)}`);
  const session = await context.session();
  const { id } = await sourceNamed(session, name);
  const path = withQuery(`/v1/sources/${id}/${list}`, { event_name: channel, expand: 'event' });
  const { items, pageInfo } = await readList(session, path, { number });
  const oldestFirst = [...items].reverse();
  return {
    data: oldestFirst,
    pageInfo,
    lines: oldestFirst.map((summary) => lineOf(context, summary, shown, full)),
  };
};

const lineOf = ({ look }: Context, summary: Fields, shown: Shown, full: boolean): Line => {
  const at = summary['indexed_at_ms'];
  const time = typeof at === 'number' ? momentOf(at, look) : '';
  const parts = [{ text: time, as: 'dim' as const }, ...shown(summary)];
  const line = parts.flatMap((part, n) => (n === 0 ? [part] : ['  ', part]));
  return full || look.columns === undefined ? line : fitted(line, look.columns);
};

/** Cuts a line of parts to the width of the terminal. */
const fitted = (line: readonly Part[], columns: number): Line => {
  let room = columns;
  return line.flatMap((part): readonly Part[] => {
    const text = harmless(typeof part === 'string' ? part : part.text);
    if (room <= 0) return [];
    const kept = cut(text, room);
    room -= kept === text ? text.length : room;
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
