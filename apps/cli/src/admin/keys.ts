import { type Command } from 'commander';
import { issueKeyFor, namesOfTools, type RegisteredKey, revokeKeyOf } from '#libs/tenancy/index.js';
import { collect } from '../author/globals.js';
import { checkName } from '../key.js';
import { tell } from '../progress.js';
import { endAfter } from './lifetime.js';
import { isoOf, tellJson, tellTable } from './print.js';
import { inOption, type Output, requireUser, type Tenancy, withJson, withTenancy } from './tenancy.js';

export const registerKeys = (admin: Command): void => {
  const key = admin.command('key').description('Issues, lists and revokes API keys of any user, without an API key.');
  const issue = key
    .command('issue')
    .description(
      'Issues a further key, and prints it to stdout this once. It acts in every workspace of its user, with the ' +
        'role that the user has there. The keys that the user has stay valid.',
    );
  withJson(requireUser(issue, '--user <user>'))
    .option('--name <name>', 'name of the key in lists', 'command line')
    .option('--expires-in <time>', 'time until the key ends, such as 12h, 30d or 8w; default: it has no end')
    .option('--read-only', 'a key that may read, and change nothing')
    .option('--tool <name>', 'a key that opens this tool for agents, and nothing else; once for each tool', collect)
    .action((options: IssueOptions) => withTenancy((tenancy) => issueKey(tenancy, options)));
  withJson(key.command('list').description('Lists the keys that are not revoked. The keys themselves are not stored.'))
    .option('--user <user>', 'only those of this user: email address, username or id')
    .action(({ user, json }: Output & { readonly user?: string }) =>
      withTenancy(async (tenancy) => {
        const { register } = tenancy;
        const userId = user === undefined ? undefined : (await inOption('--user', () => register.find(user))).userId;
        list(tenancy, register.keysInForce(userId), json === true);
      }),
    );
  withJson(key.command('revoke').description('Revokes a key, which no request can use from then on.'))
    .argument('<key id>', 'key_…, as `sluice admin key list` shows it')
    .action((keyId: string, { json }: Output) =>
      withTenancy(async (tenancy) => {
        const { isRevoked } = await revokeKeyOf(tenancy, keyId);
        if (json) tellJson({ id: keyId, revoked: true });
        else tell(`key ${keyId} ${isRevoked ? 'was revoked already' : 'is revoked'}`);
      }),
    );
};

interface IssueOptions extends Output {
  readonly user: string;
  readonly name: string;
  readonly expiresIn?: string;
  readonly readOnly?: boolean;
  readonly tool?: readonly string[];
}

const issueKey = async (tenancy: Tenancy, options: IssueOptions): Promise<void> => {
  const { name, expiresIn, readOnly, tool, json } = options;
  checkName(name);
  const { userId, username } = await inOption('--user', () => tenancy.register.find(options.user));
  const expiresAt = expiresIn === undefined ? undefined : endAfter(expiresIn, tenancy.clock.now());
  const tools = tool && (await inOption('--tool', () => namesOfTools(tool)));
  const limits = {
    ...(readOnly ? { readOnly } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(tools ? { tools } : {}),
  } as const;
  const { keyId, secret, handedOver } = await issueKeyFor(tenancy, userId, name, limits);
  const scope = scopeOf(limits);
  if (json) {
    tellJson({
      id: keyId,
      user_id: userId,
      name,
      scope,
      tools: tools ?? null,
      expires_at: isoOf(expiresAt),
      key: secret,
    });
  } else {
    const end = expiresAt === undefined ? 'without end' : `until ${isoOf(expiresAt)}`;
    process.stderr.write(`key ${keyId} of ${username} (${userId}), ${scope}, ${end}, shown this once:\n`);
    tell(secret);
  }
  await handedOver();
};

const scopeOf = ({ readOnly, tools }: Pick<RegisteredKey, 'readOnly' | 'tools'>): string => {
  if (tools) return readOnly ? 'read-only tools' : 'tools';
  return readOnly ? 'read-only' : 'full';
};

const list = ({ register, workspaces, clock }: Tenancy, keys: readonly RegisteredKey[], json: boolean): void => {
  if (json) {
    tellJson(
      keys.map((key) => ({
        id: key.keyId,
        user_id: key.userId,
        username: register.user(key.userId)?.username ?? null,
        name: key.name,
        scope: scopeOf(key),
        tools: key.tools ?? null,
        workspaces: workspaces.of(key.userId).map(({ workspaceId }) => workspaceId),
        issued_at: isoOf(key.issuedAt),
        expires_at: isoOf(key.expiresAt),
      })),
    );
    return;
  }
  const endOf = ({ expiresAt }: RegisteredKey): string => {
    if (expiresAt === undefined) return 'never';
    return `${isoOf(expiresAt)}${expiresAt <= clock.now() ? ' (expired)' : ''}`;
  };
  const rows = keys.map((key) => [
    key.keyId,
    register.user(key.userId)?.username ?? key.userId,
    scopeOf(key),
    isoOf(key.issuedAt) ?? '',
    endOf(key),
    key.name,
  ]);
  tellTable(['ID', 'USER', 'SCOPE', 'ISSUED', 'EXPIRES', 'NAME'], rows);
};
