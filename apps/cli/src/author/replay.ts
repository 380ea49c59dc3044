import { setTimeout as pause } from 'node:timers/promises';
import { type Command } from 'commander';
import { CommandFailure, wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { type Fields, fieldText, isFields } from './json.js';
import { endNamed } from './names.js';
import { readList } from './pages.js';
import { type Session } from './session.js';
import { momentGiven } from './span.js';

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly rate?: string;
  readonly channel?: string;
  readonly cancel?: boolean;
}

export const registerReplay = (program: Command): void => {
  authorCommand<Options>(
    program
      .command('replay')
      .description('Sends kept events of an emitter to a listener again, and waits until the last is on its way.')
      .argument('<emitter>', 'who emitted: a source, by id or name')
      .argument('<listener>', 'who receives: a source or a webhook, by id or name')
      .option('--from <event>', 'id of the first event, or a time (default: the oldest that is kept)')
      .option('--to <event>', 'id of the last event, or a time (default: the newest)')
      .option('--rate <count>', 'events a second, at most 100 (default: 10)')
      .option('--channel <name>', 'channel (default: the one without a name)')
      .option('--cancel', 'cancel the replay that goes on'),
    replay,
  );
};

const LOOK_MS = 500;
/** Time after its end at which a replay that does not end counts as held up. */
const LATE_MS = 60_000;
const EVENT_ID = /^\d{1,15}-\d{1,10}$/;

const replay = async (context: Context, [from = '', to = '']: readonly string[], options: Options): Promise<Told> => {
  const { rate, channel = '', cancel = false } = options;
  const range = { start_id: idOf('--from', options.from, '0'), end_id: idOf('--to', options.to, '9999999999') };
  if (rate !== undefined && !(/^\d{1,3}$/.test(rate) && Number(rate) >= 1 && Number(rate) <= 100))
    throw wrongUsage(`--rate must be an integer from 1 to 100; got ${JSON.stringify(rate.slice(0, 100))}`);
  const session = await context.session();
  const [emitter, listener] = [await endNamed(session, from), await endNamed(session, to)];
  const subscription = await subscriptionOf(session, emitter, listener, channel);
  const path = `/v1/subscriptions/${fieldText(subscription, 'id')}/replay`;
  if (cancel) {
    await session.request({ method: 'DELETE', path });
    const data = { subscription_id: subscription['id'], cancelled: true };
    return { data, lines: ['the replay is cancelled; what is on its way already arrives'] };
  }
  const given = { ...range, ...(rate === undefined ? {} : { rate: Number(rate) }) };
  // A subscription to many emitters needs the one that is meant.
  const emitterId = fieldText(subscription, 'emitter_id') === emitter ? {} : { emitter_id: emitter };
  const { data } = await session.request({ method: 'POST', path, body: { ...definedOf(given), ...emitterId } });
  const ended = await untilSent(context, session, path, isFields(data) ? data : {});
  const events = numberIn(data, 'events');
  return ended
    ? { data, lines: [`${fieldText(data, 'id')}: ${events} ${events === 1 ? 'event' : 'events'} sent again`] }
    : { data, lines: [`${fieldText(data, 'id')}: is late, and goes on`], exit: 1 };
};

/** The id of an event, or the least or greatest one of a time. */
const idOf = (option: string, given: string | undefined, sequence: string): string | undefined => {
  if (given === undefined || EVENT_ID.test(given)) return given;
  return `${momentGiven(option, given, 'the id of an event')}-${sequence}`;
};

const definedOf = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const subscriptionOf = async (
  session: Session,
  emitter: string,
  listener: string,
  channel: string,
): Promise<Fields> => {
  const path = `/v1/workspaces/${await session.workspaceId()}/subscriptions`;
  const { items } = await readList(session, path, { all: true });
  const fits = items.filter((each) => each['listener_id'] === listener && (each['event_name'] ?? '') === channel);
  // Those of all sources or workflows are patterns such as `dc_*`.
  const pattern = `${emitter.slice(0, emitter.indexOf('_') + 1)}*`;
  const found = [emitter, pattern].map((id) => fits.find((each) => each['emitter_id'] === id)).find(Boolean);
  if (found) return found;
  throw new CommandFailure({
    exit: 4,
    code: 'subscription_not_found',
    status: 404,
    message: `${listener} is not subscribed to ${emitter}${channel === '' ? '' : ` (${channel})`}. "sluice list subscriptions" shows all.`,
    next: 'sluice list subscriptions',
  });
};

const numberIn = (value: unknown, key: string): number => {
  const found = isFields(value) ? value[key] : undefined;
  return typeof found === 'number' ? found : 0;
};

/** Resolves with false for a replay that is far behind its time. */
const untilSent = async ({ io, globals }: Context, session: Session, path: string, begun: Fields): Promise<boolean> => {
  const [events, endsAt, startedAt] = ['events', 'ends_at', 'started_at'].map((key) => numberIn(begun, key));
  const late = Date.now() + Math.max(0, (endsAt ?? 0) - (startedAt ?? 0)) + LATE_MS;
  const isShown = io.isTerminal.stderr && globals.json !== true;
  try {
    for (;;) {
      const { data } = await session.request({ method: 'GET', path });
      const waiting = numberIn(data, 'waiting');
      if (isShown) io.progress(barOf((events ?? 0) - waiting, events ?? 0));
      if (waiting === 0) return true;
      if (Date.now() > late) return false;
      await pause(LOOK_MS);
    }
  } finally {
    if (isShown) io.progress('');
  }
};

const BAR = 30;

/** `[######----] 3 of 5` */
const barOf = (done: number, all: number): string => {
  const part = all === 0 ? 1 : Math.min(1, Math.max(0, done / all));
  const filled = Math.round(BAR * part);
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR - filled)}] ${done} of ${all}`;
};
