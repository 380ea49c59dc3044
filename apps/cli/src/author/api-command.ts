import { type Command } from 'commander';
import { type Asked, askForText } from './api.js';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { collect } from './globals.js';
import { jsonArgument } from './json-argument.js';
import { withQuery } from './session.js';

interface Options {
  readonly query?: readonly string[];
  readonly data?: string;
}

export const registerApi = (program: Command): void => {
  authorCommand<Options>(
    program
      .command('api')
      .description(
        'Sends a request to any route of the API, and prints the reply as it came. The path is like /v1/users/me, or ' +
          '/users/me.',
      )
      .argument('<method>', 'GET, POST, PUT or DELETE')
      .argument('<path>', 'path below the address of the server')
      .option('-q, --query <key=value>', 'a parameter; may be repeated', collect)
      .option('--data <json>', 'body: JSON, @FILE, or - for standard input'),
    call,
  );
};

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;

const call = async (
  context: Context,
  [given = '', path = '']: readonly string[],
  { query = [], data }: Options,
): Promise<Told> => {
  const method = METHODS.find((each) => each === given.toUpperCase());
  if (method === undefined)
    throw wrongUsage(`the method must be GET, POST, PUT or DELETE; got ${JSON.stringify(given)}`);
  const asked: Asked = {
    method,
    path: withQuery(routeOf(path), Object.fromEntries(query.map(pairOf))),
    ...(data === undefined ? {} : { json: await jsonArgument(context, '--data', data) }),
  };
  const session = await context.session();
  const text = await (context.globals.workspace === undefined
    ? askForText(session.server, asked)
    : session.text(asked));
  return { data: null, raw: text, lines: [] };
};

/** Only a path: the server is chosen as for every command. */
const routeOf = (path: string): string => {
  if (!/^\/[!-~]*$/.test(path) || path.startsWith('//') || path.includes('#'))
    throw wrongUsage(`the path must begin with /, like /v1/users/me; got ${JSON.stringify(path.slice(0, 200))}`);
  return /^\/(?:v1|healthz|readyz|metrics)(?:[/?]|$)/.test(path) ? path : `/v1${path}`;
};

const pairOf = (given: string): readonly [string, string] => {
  const at = given.indexOf('=');
  if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
  throw wrongUsage(`--query must be key=value; got ${JSON.stringify(given.slice(0, 100))}`);
};
