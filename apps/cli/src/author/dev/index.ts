import path from 'node:path';
import { type Command } from 'commander';
import { projectOf } from '#libs/component-files/files-of-component.js';
import { wrongUsage } from '../failure.js';
import { authorCommand, type Told } from '../command.js';
import { saveFiles } from '../components.js';
import { type Context } from '../context.js';
import { type DeploymentOptions, ownProps, withDeploymentOptions } from '../deployment.js';
import { forwardTo } from '../follow/forward.js';
import { untilStopped } from '../until-stopped.js';
import { DevState } from './dev-state.js';
import { eventsOf } from './events.js';
import { followAction } from './follow-action.js';
import { followSource } from './follow-source.js';
import { markedFiles } from './marked-files.js';
import { placeOf } from './place.js';
import { Report } from './report.js';

export interface DevOptions extends DeploymentOptions {
  readonly own?: boolean;
  readonly source?: string;
  readonly event?: string;
  readonly from?: string;
  readonly channel?: string;
  readonly forward?: string;
  readonly keep?: boolean;
  readonly rm?: boolean;
}

export const registerDev = (program: Command): void => {
  authorCommand<DevOptions>(
    withDeploymentOptions(
      program
        .command('dev')
        .description(
          'Deploys a file as a source of its own, changes that at each save, and shows what happens, until Ctrl-C. An ' +
            'action is run at each save. Without an API key, a server of its own is started, which ends with the command.',
        )
        .argument('<file>', 'the file that exports the component'),
    )
      .option('--own', 'start a server of its own, also with an API key')
      .option('--dc, --source <source>', 'change this source, by id or name, instead of one of its own')
      .option(
        '--event <file>',
        'events to send at first and after each save: JSON, or JSON a line; - for standard input',
      )
      .option('--from <emitter>', 'send it what another source emits, by id or name, until the end')
      .option('--channel <name>', 'with --from: channel (default: the one without a name)')
      .option('--forward <url>', 'post each of its events to this address, signed as webhooks are')
      .option('--keep', 'leave the source active at the end')
      .option('--rm', 'delete the source at the end'),
    dev,
  );
};

/** What an action has no use for. */
const OF_SOURCES = ['source', 'event', 'from', 'forward', 'keep', 'rm'] as const;

const dev = async (context: Context, [file = '']: readonly string[], options: DevOptions): Promise<Told> => {
  if (options.keep === true && options.rm === true) throw wrongUsage('give --keep or --rm, and not both');
  if (options.channel !== undefined && options.from === undefined) throw wrongUsage('--channel needs --from');
  const forward = options.forward === undefined ? undefined : forwardTo(options.forward);
  const own = ownProps(context, options);
  const events = await eventsOf(context, options.event);
  const files = await markedFiles(file, options.root);
  const entry = path.resolve(file);
  const folder = projectOf(path.dirname(entry));
  const stopped = untilStopped();
  const { signal } = stopped;
  const place = await placeOf(context, options.own === true, folder);
  try {
    const { session, server } = place;
    const component = await saveFiles(session, files);
    const report = new Report(context);
    const followed = { context, session, component, options, own, files, file, report, signal };
    if (component.isAction) {
      const unused = OF_SOURCES.find((name) => options[name] !== undefined);
      if (unused !== undefined) throw wrongUsage(`--${unused} is for sources, and ${file} has an action: leave it out`);
      await followAction(followed);
    } else {
      const name = path.relative(folder, entry).split(path.sep).join('/');
      const interrupt = (): void => stopped.abort();
      await followSource({ ...followed, server, state: new DevState(folder), name, events, forward, interrupt });
    }
  } finally {
    // Also what goes on until then ends after a failure.
    stopped.abort();
    await place.close();
  }
  return { data: null, lines: [], streamed: true };
};
