import { type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { jsonArgument } from './json-argument.js';
import { type Fields, fieldText, isFields, jsonLine, objectsIn, textOf } from './json.js';
import { isError, observationLine } from './observations.js';
import { sourceNamed } from './sources.js';
import { type Line } from './text.js';

interface Options {
  readonly event?: string;
  readonly sample?: boolean;
  /** False with `--no-wait`. */
  readonly wait?: boolean;
}

export const registerRun = (program: Command): void => {
  authorCommand<Options>(
    program
      .command('run')
      .description(
        'Runs an active source once, and prints what it logged and emitted. Ends with 1 when the run failed.',
      )
      .argument('<source>', 'id or name')
      .option('--event <json>', 'what run receives: JSON, @FILE, or - for standard input')
      .option('--sample', 'emit the sample event of the component instead')
      .option('--no-wait', 'do not wait for the end of the run'),
    run,
  );
};

const run = async (
  context: Context,
  [name = '']: readonly string[],
  { event, sample = false, wait = true }: Options,
): Promise<Told> => {
  if (sample && event !== undefined) throw wrongUsage('--sample takes no --event');
  const session = await context.session();
  const { id } = await sourceNamed(session, name);
  if (sample) {
    const { data } = await session.request({ method: 'POST', path: `/v1/sources/${id}/sample_emit` });
    return { data, lines: [`emitted a sample event of ${id}`] };
  }
  const given = event === undefined ? '' : `"event":${await jsonArgument(context, '--event', event)},`;
  const json = `{${given}"wait":${String(wait)}}`;
  const { data } = await session.request({ method: 'POST', path: `/v1/sources/${id}/run`, json });
  const fields = isFields(data) ? data : {};
  if (!wait) return { data, lines: [`run ${fieldText(data, 'id')} is queued`] };
  const observations = objectsIn(fields['observations']);
  const emits = objectsIn(fields['emits']);
  const failed = observations.some(isError) || (typeof fields['status'] === 'string' && fields['status'] !== 'ok');
  const hints = fields['ended'] === true ? [] : ['the run has not ended yet; it goes on'];
  return {
    data,
    lines: [...observations.map(observationLine), ...emits.map(emitLine), ...endLines(fields)],
    hints,
    exit: failed ? 1 : 0,
  };
};

const emitLine = ({ event_name: name, event, summary, dropped }: Fields): Line => [
  { text: 'emit', as: 'strong' },
  ...[textOf(name), textOf(summary)].flatMap((part) => (part === '' ? [] : ['  ', part])),
  '  ',
  jsonLine(event),
  ...(dropped === 'dedupe' ? ['  ', { text: 'dropped: dedupe', as: 'warn' as const }] : []),
];

/** A server of another version does not tell. */
const endLines = ({ status, ms }: Fields): readonly Line[] =>
  typeof status === 'string' ? [[{ text: status, as: status === 'ok' ? 'good' : 'bad' }, `  ${textOf(ms)} ms`]] : [];
