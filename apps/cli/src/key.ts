import { type Command } from 'commander';
import { makeUpcasters } from '#libs/composition/contexts.js';
import { type Engines } from '#libs/composition/engines.js';
import { commandHandler } from '#libs/kernel/handle-command.js';
import { issueKeyFor, KeyRegister, revokeKeyOf, type RegisteredKey } from '#libs/tenancy/index.js';
import { tell } from './progress.js';
import { requireOption } from './usage.js';
import { withEngines } from './with-engines.js';

const WHERE = 'Embedded: the server must be stopped. Distributed: running processes may continue.';

export const registerKey = (program: Command): void => {
  const key = program
    .command('key')
    .description(`Issues, lists and revokes API keys of any user, without an API key. ${WHERE}`);
  const issue = key
    .command('issue')
    .description('Issues a further key, and prints it to stdout this once. The keys that the user has stay valid.');
  requireOption(issue, '--user <user>', 'username, email address or id (u_…); the first user is "owner"')
    .option('--name <name>', 'name of the key in lists', 'command line')
    .action(({ user, name }: { user: string; name: string }) =>
      withEngines(async (engines) => {
        checkName(name);
        const keys = await operatorKeys(engines);
        const { userId, username } = keys.register.find(user);
        const { keyId, secret, handedOver } = await issueKeyFor(keys, userId, name);
        process.stderr.write(`key ${keyId} of ${username} (${userId}), shown this once:\n`);
        tell(secret);
        await handedOver();
      }),
    );
  key
    .command('list')
    .description('Lists the keys in force: id, user, time of issue, name. The keys themselves are not stored.')
    .option('--user <user>', 'only those of this user: username, email address or id')
    .action(({ user }: { user?: string }) =>
      withEngines(async (engines) => {
        const { register } = await operatorKeys(engines);
        const found = register.keysInForce(user === undefined ? undefined : register.find(user).userId);
        for (const each of found) tell(lineOf(each, register));
        process.stderr.write(`${found.length} ${found.length === 1 ? 'key' : 'keys'} in force\n`);
      }),
    );
  key
    .command('revoke')
    .description('Revokes a key, which no request can use from then on.')
    .argument('<key id>', 'key_…, as `sluice key list` shows it')
    .action((keyId: string) =>
      withEngines(async (engines) => {
        const keys = await operatorKeys(engines);
        const { isRevoked } = await revokeKeyOf(keys, keyId);
        tell(`key ${keyId} ${isRevoked ? 'was revoked already' : 'is revoked'}`);
      }),
    );
};

const operatorKeys = async ({ events, clock }: Engines) => {
  const upcasters = makeUpcasters();
  const register = await KeyRegister.read(events, upcasters);
  return { register, clock, handleCommand: commandHandler({ store: events, upcasters }) };
};

const lineOf = ({ keyId, userId, name, issuedAt }: RegisteredKey, register: KeyRegister): string => {
  const username = register.user(userId)?.username ?? userId;
  return `${keyId}  ${username.padEnd(20)}  ${new Date(issuedAt).toISOString()}  ${name.replace(/\p{C}/gu, '?')}`;
};

const MAX_NAME = 100;

/** Throws for a name that no list could show. */
export const checkName = (name: string): void => {
  if (name !== '' && name.length <= MAX_NAME && !/\p{Cc}/u.test(name)) return;
  throw new Error(`--name must be 1 to ${MAX_NAME} characters without control characters; it has ${name.length}`);
};
