import { type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { confirmed } from './confirm.js';
import { type Context } from './context.js';
import { registerDeliveries } from './deliveries.js';
import { fieldText } from './json.js';
import { knownWebhook } from './names.js';

interface Options {
  readonly name?: string;
  readonly timeout?: string;
  readonly attempts?: string;
  readonly ordered?: boolean;
}

export const registerWebhooks = (program: Command): void => {
  const webhooks = program
    .command('webhooks')
    .description('Makes, changes and deletes webhooks, and tells what they were sent.');
  authorCommand<Options>(
    withRules(webhooks.command('create').description('Makes a webhook, and prints its signing key this once.'))
      .argument('<url>', 'where events are sent')
      .option('--ordered', 'send events in their order'),
    create,
  );
  authorCommand<Options>(
    withRules(webhooks.command('update').description('Changes a webhook: what is not given stays.')).argument(
      '<webhook>',
      'id or name',
    ),
    update,
  );
  authorCommand(
    webhooks
      .command('delete')
      .description('Deletes a webhook with its subscriptions and attempts, after a question or with --yes.')
      .argument('<webhook>', 'id or name'),
    remove,
  );
  registerDeliveries(webhooks);
};

const withRules = (command: Command): Command =>
  command
    .option('--name <name>', 'name for people')
    .option('--timeout <seconds>', 'seconds that an attempt may take')
    .option('--attempts <count>', 'attempts before a delivery is given up');

const rulesIn = ({ name, timeout, attempts, ordered }: Options): Readonly<Record<string, unknown>> => ({
  ...(name === undefined ? {} : { name }),
  ...(timeout === undefined ? {} : { timeout_s: numberOf('--timeout', timeout) }),
  ...(attempts === undefined ? {} : { max_attempts: numberOf('--attempts', attempts) }),
  ...(ordered === true ? { ordered: true } : {}),
});

const numberOf = (option: string, text: string): number => {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw wrongUsage(`${option} must be a number; got ${JSON.stringify(text.slice(0, 100))}`);
};

const create = async (context: Context, [url = '']: readonly string[], options: Options): Promise<Told> => {
  const session = await context.session();
  const { data } = await session.request({ method: 'POST', path: '/v1/webhooks', body: { url, ...rulesIn(options) } });
  const key = fieldText(data, 'signing_key');
  const hints = key === '' ? ['its signing key is lost: make a new one'] : [];
  const lines = [`webhook ${fieldText(data, 'id')}`, ...(key === '' ? [] : [`signing key, shown this once: ${key}`])];
  return { data, lines, hints };
};

const update = async (context: Context, [name = '']: readonly string[], options: Options): Promise<Told> => {
  const changes = rulesIn(options);
  if (Object.keys(changes).length === 0) throw wrongUsage('nothing to change: give --name, --timeout or --attempts');
  const session = await context.session();
  const webhook = await knownWebhook(session, name);
  const { id, revision } = { id: fieldText(webhook, 'id'), revision: webhook['revision'] };
  const { data } = await session.request({
    method: 'PUT',
    path: `/v1/webhooks/${id}`,
    body: { active: webhook['active'], ...changes },
    ...(typeof revision === 'number' ? { revision } : {}),
  });
  return { data, lines: [`webhook ${id}: updated`] };
};

const remove = async (context: Context, [name = '']: readonly string[]): Promise<Told> => {
  const session = await context.session();
  const webhook = await knownWebhook(session, name);
  const id = fieldText(webhook, 'id');
  await confirmed(context, `Delete webhook ${id} to ${fieldText(webhook, 'url')} with its subscriptions?`);
  await session.request({ method: 'DELETE', path: `/v1/webhooks/${id}` });
  return { data: { id, deleted: true }, lines: [`webhook ${id}: deleted`] };
};
