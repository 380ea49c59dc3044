import { type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { confirmed } from './confirm.js';
import { type Context } from './context.js';
import { follow, followedBy, type FollowOptions } from './follow/follow.js';
import { exactLine, exactly, type Fields, fieldText, isFields, textOf } from './json.js';
import { jsonArgument } from './json-argument.js';
import { knownWebhook } from './names.js';
import { type ListOptions, readList } from './pages.js';
import { type Session } from './session.js';
import { timeGiven } from './span.js';
import { type Line, type Look, momentIn, type Tone } from './text.js';

interface Range {
  readonly since?: string;
  readonly until?: string;
}

interface ListedOptions extends ListOptions, Range, FollowOptions {
  readonly failed?: boolean;
}

interface RedeliverOptions extends Range {
  readonly failed?: boolean;
}

interface TestOptions {
  readonly payload?: string;
  readonly channel?: string;
}

/** Adds the commands about what a webhook was sent. */
export const registerDeliveries = (webhooks: Command): void => {
  authorCommand<ListedOptions>(
    ranged(webhooks.command('deliveries').description('Lists the last attempts at deliveries of a webhook.'))
      .option('--failed', 'only attempts that failed, and after which no other follows')
      .option('-n, --number <count>', 'how many (default: 20)')
      .option('--after <cursor>', 'what comes after the end of another page')
      .option('--all', 'all that are kept')
      .option('-f, --follow', 'go on with those that come, until Ctrl-C')
      .option('--count <count>', 'with -f: end after so many more')
      .option('--for <time>', 'with -f: end after a time like 30s, 15m or 2h'),
    deliveries,
  );
  authorCommand<RedeliverOptions>(
    ranged(
      webhooks
        .command('redeliver')
        .description('Sends a delivery again, or with --failed those that failed, after a question or with --yes.'),
    )
      .argument('[delivery]', 'id (dlv_…)')
      .option('--failed', 'all that failed and are not tried again'),
    redeliver,
  );
  authorCommand<TestOptions>(
    webhooks
      .command('test')
      .description('Sends a test at once, and prints what came of it. Ends with 1 when it was answered above 299.')
      .argument('<webhook>', 'id or name')
      .option('--payload <json>', 'what is sent: JSON, @FILE, or - for standard input')
      .option('--channel <name>', 'channel (default: the one without a name)'),
    test,
  );
  authorCommand(
    webhooks
      .command('rotate-key')
      .description('Makes a new signing key, and prints it this once. The former one signs for a day, too.')
      .argument('<webhook>', 'id or name'),
    rotateKey,
  );
};

const ranged = (command: Command): Command =>
  command
    .argument('<webhook>', 'id or name')
    .option('--since <time>', 'a time ago like 30s, 15m, 2h or 7d, or a time')
    .option('--until <time>', 'the same, for the end');

const rangeOf = ({ since, until }: Range) => ({
  since: timeGiven('--since', since),
  until: timeGiven('--until', until),
});

const deliveries = async (context: Context, [name = '']: readonly string[], options: ListedOptions): Promise<Told> => {
  const { failed = false } = options;
  const following = followedBy(options);
  const outcome = failed ? 'final' : undefined;
  const range = rangeOf(options);
  const session = await context.session();
  const id = await idOf(session, name);
  const list = () => readList(session, `/v1/webhooks/${id}/deliveries`, options, { outcome, ...range });
  if (following === undefined) {
    const { items, pageInfo, hints } = await list();
    return { data: items, pageInfo, hints, lines: items.map((each) => lineOf(each, context.look)) };
  }
  const workspace = await session.workspaceId();
  return follow(context, following, {
    open: (...at) => session.stream(workspace, { streams: 'deliveries', webhook_id: id }, ...at),
    history: async () => [...(await list()).items].reverse(),
    stream: 'deliveries',
    isShown: (attempt) => outcome === undefined || attempt['outcome'] === outcome,
    lineFor: (attempt) => lineOf(attempt, context.look),
  });
};

const TONES: Readonly<Record<string, Tone>> = { success: 'good', retry: 'warn', final: 'bad' };

/** Time, delivery, attempt, outcome, status or error, duration. */
const lineOf = (attempt: Fields, look: Look): Line => {
  const { ts, attempt: number, status, ms, error } = attempt;
  const outcome = fieldText(attempt, 'outcome');
  const result = textOf(status ?? error);
  return [
    { text: momentIn(ts, look), as: 'dim' },
    `  ${fieldText(attempt, 'id')}  ${textOf(number)}  `,
    { text: outcome, as: TONES[outcome] ?? 'strong' },
    `  ${result}  ${textOf(ms)} ms`,
  ];
};

const idOf = async (session: Session, name: string): Promise<string> =>
  fieldText(await knownWebhook(session, name), 'id');

const redeliver = async (
  context: Context,
  [name = '', delivery]: readonly string[],
  options: RedeliverOptions,
): Promise<Told> => {
  const { failed = false } = options;
  if (failed === (delivery !== undefined)) throw wrongUsage('give the id of a delivery, or --failed');
  const range = rangeOf(options);
  if (delivery !== undefined && (range.since ?? range.until) !== undefined)
    throw wrongUsage('--since and --until need --failed');
  const session = await context.session();
  const id = await idOf(session, name);
  const path = `/v1/webhooks/${id}/deliveries`;
  if (delivery !== undefined) {
    const sent = await session.request({ method: 'POST', path: `${path}/${encodeURIComponent(delivery)}/redeliver` });
    return { data: sent['data'], lines: [`${delivery}: sent again`] };
  }
  const { items } = await readList(session, path, { all: true }, { outcome: 'final', ...range });
  // An attempt before the last of a delivery that was sent again counts no more.
  const count = new Set(items.map((each) => each['id'])).size;
  if (count === 0) return { data: { queued: [], gone: [] }, lines: ['no delivery failed'] };
  await confirmed(context, `Send ${count} failed ${count === 1 ? 'delivery' : 'deliveries'} of ${id} again?`);
  const body = { outcome: 'final', ...numbersOf(range) };
  const { data } = await session.request({ method: 'POST', path: `${path}/redeliver`, body });
  const [queued = 0, lost = 0] = ['queued', 'gone'].map((key) => countIn(data, key));
  return {
    data,
    lines: [`${queued} sent again`],
    hints: lost === 0 ? [] : [`${lost} cannot be sent again, because their events are no longer kept`],
  };
};

const countIn = (value: unknown, key: string): number => {
  const list = isFields(value) ? value[key] : undefined;
  return Array.isArray(list) ? list.length : 0;
};

const numbersOf = ({ since, until }: Readonly<Record<'since' | 'until', string | undefined>>): Fields => ({
  ...(since === undefined ? {} : { since: Number(since) }),
  ...(until === undefined ? {} : { until: Number(until) }),
});

const test = async (
  context: Context,
  [name = '']: readonly string[],
  { payload, channel }: TestOptions,
): Promise<Told> => {
  const given = payload === undefined ? {} : { payload: exactly(await jsonArgument(context, '--payload', payload)) };
  const session = await context.session();
  const path = `/v1/webhooks/${await idOf(session, name)}/test`;
  const json = exactLine({ ...given, ...(channel === undefined ? {} : { event_name: channel }) });
  const { data } = await session.request({ method: 'POST', path, json });
  const attempt = isFields(data) ? data : {};
  const answer = fieldText(attempt, 'response');
  const lines = [lineOf(attempt, context.look), ...(answer === '' ? [] : [answer])];
  return { data, lines, exit: attempt['outcome'] === 'success' ? 0 : 1 };
};

const rotateKey = async (context: Context, [name = '']: readonly string[]): Promise<Told> => {
  const session = await context.session();
  const id = await idOf(session, name);
  const { data } = await session.request({ method: 'POST', path: `/v1/webhooks/${id}/regenerate_signing_key` });
  const key = fieldText(data, 'signing_key');
  const lost = 'its signing key is lost: make a new one';
  return key === ''
    ? { data, lines: [`webhook ${id}`], hints: [lost] }
    : { data, lines: [`webhook ${id}`, `signing key, shown this once: ${key}`] };
};
