import { type Command } from 'commander';
import { wrongUsage } from '../workflows/failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { jsonArgument } from './json-argument.js';
import { fieldText, isFields } from './json.js';
import { isError, observationLine } from './observations.js';
import { sourceNamed } from './sources.js';

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
      .description('Runs an active source once, and prints what it logged. Ends with 1 when the run failed.')
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
  const observations = Array.isArray(fields['observations']) ? fields['observations'].filter(isFields) : [];
  const failed = observations.some(isError);
  const hints = fields['ended'] === true ? [] : ['the run has not ended yet; it goes on'];
  return { data, lines: observations.map(observationLine), hints, exit: failed ? 1 : 0 };
};
