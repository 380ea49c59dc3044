import { type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { eventParts } from './events.js';
import { type Fields, fieldText, isFields, objectsIn, textOf } from './json.js';
import { addListOptions } from './list.js';
import { observationLine } from './observations.js';
import { type ListOptions, readList } from './pages.js';
import { sourceNamed } from './sources.js';
import { timeGiven } from './span.js';
import { type Cell, type Line, momentIn, table, type Tone } from './text.js';

interface Options extends ListOptions {
  readonly status?: string;
  readonly since?: string;
}

export const registerRuns = (program: Command): void => {
  const command = addListOptions(
    program
      .command('runs')
      .description('Lists the runs of a source, newest first, or tells of one with its events and log lines.')
      .argument('<source>', 'id or name')
      .argument('[run]', 'id of one run, inv_…'),
  )
    .option('--status <status>', 'only queued, running, ok, threw or killed ones; several with commas between')
    .option('--since <time>', 'only those queued since: 30s, 15m, 2h or 7d ago, or a time in ISO 8601');
  authorCommand<Options>(command, (context, [source = '', run], options) =>
    run === undefined ? list(context, source, options) : tell(context, source, run, options),
  );
};

const list = async (context: Context, name: string, { status, since, ...options }: Options): Promise<Told> => {
  const query = { status, since: timeGiven('--since', since) };
  const session = await context.session();
  const { id } = await sourceNamed(session, name);
  const { items, pageInfo, hints } = await readList(session, `/v1/sources/${id}/runs`, options, query);
  const rows = items.map((run) => [
    momentIn(run['queued_at_ms'], context.look),
    fieldText(run, 'id'),
    fieldText(run, 'kind'),
    statusCell(run),
    textOf(run['ms']),
    textOf(run['emits']),
    errorText(run),
  ]);
  return {
    data: items,
    pageInfo,
    lines: table(['QUEUED', 'ID', 'KIND', 'STATUS', 'MS', 'EMITS', 'ERROR'], rows, context.look),
    hints,
  };
};

const tell = async (context: Context, name: string, run: string, options: Options): Promise<Told> => {
  const wrong = (['number', 'after', 'all', 'status', 'since'] as const).find((name) => options[name] !== undefined);
  if (wrong !== undefined) throw wrongUsage(`--${wrong} is for a list of runs: leave it out, or the id of the run`);
  const session = await context.session();
  const { id } = await sourceNamed(session, name);
  const path = `/v1/sources/${id}/runs/${encodeURIComponent(run)}`;
  const { data } = await session.request({ method: 'GET', path });
  const fields = isFields(data) ? data : {};
  const { text, as } = statusCell(fields);
  const head: Line = [
    { text: momentIn(fields['queued_at_ms'], context.look), as: 'dim' },
    `  ${fieldText(fields, 'kind')}  `,
    as === undefined ? text : { text, as },
    ...(fields['ms'] === null ? [] : [`  ${textOf(fields['ms'])} ms`]),
    ...(fields['http_status'] === null ? [] : [`  HTTP ${textOf(fields['http_status'])}`]),
  ];
  const error = errorText(fields);
  const gone = fields['emits_kept'] === false ? ['some of its events or log lines are no longer kept'] : [];
  return {
    data,
    lines: [
      head,
      ...objectsIn(fields['logs']).map(({ event }) => observationLine(isFields(event) ? event : {})),
      ...objectsIn(fields['emits']).map((event): Line => [
        'emitted',
        ...eventParts(event).flatMap((part) => ['  ', part]),
      ]),
      ...(error === '' ? [] : [[{ text: error, as: 'bad' as const }]]),
    ],
    hints: gone,
  };
};

const TONES: Readonly<Record<string, Tone>> = {
  ok: 'good',
  threw: 'bad',
  killed: 'bad',
  queued: 'dim',
  running: 'warn',
};

const statusCell = (run: Fields): Cell => {
  const text = fieldText(run, 'status');
  const as = Object.hasOwn(TONES, text) ? TONES[text] : undefined;
  return as === undefined ? { text } : { text, as };
};

const errorText = ({ error }: Fields): string =>
  isFields(error) ? `${fieldText(error, 'name')}: ${fieldText(error, 'message')}` : '';
