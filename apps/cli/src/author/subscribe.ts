import { type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { jsonArgument } from './json-argument.js';
import { exactLine, exactly } from './json.js';
import { endNamed } from './names.js';
import { withQuery } from './session.js';

interface Options {
  readonly channel?: string;
  readonly filter?: string;
  readonly auto?: boolean;
}

export const registerSubscribe = (program: Command): void => {
  authorCommand<Options>(
    program
      .command('subscribe')
      .description('Sends the events of an emitter to a listener: a source, a workflow or a webhook, by id or name.')
      .argument('<emitter>', 'who emits; with --auto the listener alone is given')
      .argument('[listener]', 'who receives')
      .option('--channel <name>', 'channel (default: the one without a name)')
      .option('--filter <json>', 'only events that match: JSON, @FILE, or - for standard input')
      .option('--auto', 'subscribe the listener to every source made from now on'),
    subscribe,
  );
};

export const registerUnsubscribe = (program: Command): void => {
  authorCommand<Options>(
    program
      .command('unsubscribe')
      .description('Ends a subscription.')
      .argument('<emitter>', 'who emits; with --auto the listener alone is given')
      .argument('[listener]', 'who receives')
      .option('--channel <name>', 'channel (default: the one without a name)')
      .option('--auto', 'end that to sources made from now on'),
    unsubscribe,
  );
};

/** Names of both ends; with `--auto` there is only the listener. */
const endsIn = ([first = '', second]: readonly string[], auto: boolean): { emitter?: string; listener: string } => {
  if (auto && second !== undefined) throw wrongUsage('--auto takes the listener alone');
  if (auto) return { listener: first };
  if (second === undefined) throw wrongUsage('name the emitter and the listener');
  return { emitter: first, listener: second };
};

const subscribe = async (context: Context, args: readonly string[], options: Options): Promise<Told> => {
  const { channel, filter, auto = false } = options;
  const { emitter, listener } = endsIn(args, auto);
  if (auto && filter !== undefined) throw wrongUsage('--auto takes no --filter');
  const chosen = filter === undefined ? {} : { filter: exactly(await jsonArgument(context, '--filter', filter)) };
  const session = await context.session();
  const emitterId = emitter === undefined ? undefined : await endNamed(session, emitter);
  const listenerId = await endNamed(session, listener);
  const json = exactLine({
    ...(emitterId === undefined ? {} : { emitter_id: emitterId }),
    listener_id: listenerId,
    ...(channel === undefined ? {} : { event_name: channel }),
    ...chosen,
  });
  const path = auto ? '/v1/auto_subscriptions' : '/v1/subscriptions';
  const { data } = await session.request({ method: 'POST', path, json });
  return { data, lines: [`${emitterId ?? 'every new source'} -> ${listenerId}${inChannel(channel)}: subscribed`] };
};

const unsubscribe = async (
  context: Context,
  args: readonly string[],
  { channel, auto = false }: Options,
): Promise<Told> => {
  const { emitter, listener } = endsIn(args, auto);
  const session = await context.session();
  const emitterId = emitter === undefined ? undefined : await endNamed(session, emitter);
  const listenerId = await endNamed(session, listener);
  const query = { emitter_id: emitterId, listener_id: listenerId, event_name: channel };
  const path = withQuery(auto ? '/v1/auto_subscriptions' : '/v1/subscriptions', query);
  await session.request({ method: 'DELETE', path });
  const data = { emitter_id: emitterId ?? null, listener_id: listenerId, event_name: channel ?? '', deleted: true };
  return { data, lines: [`${emitterId ?? 'every new source'} -> ${listenerId}${inChannel(channel)}: ended`] };
};

const inChannel = (channel: string | undefined): string => (channel === undefined ? '' : ` (${channel})`);
