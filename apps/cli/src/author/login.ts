import { type Command } from 'commander';
import { CommandFailure, wrongUsage } from './failure.js';
import { addressIn, LOCAL, LOOPBACK, noProfile } from './server.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { type Me, nameAndId, readMe, type Workspace, workspaceNamed } from './session.js';

export const registerLogin = (program: Command): void => {
  authorCommand(
    program
      .command('login')
      .description(
        'Asks for a server and an API key, checks them, and keeps them as a profile for later commands. No option ' +
          'takes the key, because other users of a computer see options: it is asked for, or read from a pipe, as in ' +
          '`echo "$KEY" | sluice login --url https://sluice.example`.',
      ),
    login,
  );
};

export const registerLogout = (program: Command): void => {
  authorCommand(
    program
      .command('logout')
      .description('Forgets a profile. The key stays valid until it is revoked, so its id is told.'),
    logout,
  );
};

export const registerWhoami = (program: Command): void => {
  authorCommand(
    program.command('whoami').description('Tells the server, user and workspace that commands use here.'),
    whoami,
  );
};

const login = async (context: Context): Promise<Told> => {
  const { globals, profiles } = context;
  const known = profiles.read();
  const name = nameFor(globals.profile);
  const former = Object.hasOwn(known.profiles, name) ? known.profiles[name]?.url : undefined;
  const url = await addressFor(context, former ?? LOCAL);
  const apiKey = await keyFor(context, url);
  const me = await readMe({ url, apiKey });
  const workspace = await workspaceFor(context, me);
  // Read again, because another login may have ended since.
  const { profiles: others, folders } = profiles.read();
  const kept = { url, apiKey, workspaceId: workspace?.id ?? null };
  profiles.write({ current: name, profiles: { ...others, [name]: kept }, folders });
  return toldOf({ url, profile: name, me, workspace });
};

const NAME = /^[\w.-]{1,64}$/;

const nameFor = (given = 'default'): string => {
  if (NAME.test(given) && given !== '__proto__') return given;
  throw wrongUsage(`--profile must be 1 to 64 of A-Za-z0-9._-; got ${JSON.stringify(given.slice(0, 100))}`);
};

const addressFor = async ({ globals, io, prompts }: Context, usual: string): Promise<string> => {
  const given = io.given('SLUICE_URL');
  const named = globals.url ?? (given?.from === 'environment' ? given.value : undefined);
  if (named !== undefined) return plain(named);
  if (prompts !== undefined) return plain(await prompts.text('Server', given?.value ?? usual));
  if (given !== undefined && !LOOPBACK.test(addressIn(given.value).hostname))
    throw wrongUsage(`./.env names the server ${given.value}: add --url ${given.value} to use it`);
  return plain(given?.value ?? usual);
};

const plain = (text: string): string => addressIn(text).href.replace(/\/$/, '');

/** As the server allows it. */
const KEY = /^\S{16,200}$/;

const keyFor = async ({ io, prompts }: Context, url: string): Promise<string> => {
  const isPiped = !io.isTerminal.stdin;
  if (!isPiped && prompts === undefined)
    throw wrongUsage(`login needs an API key for ${url}, and nobody can be asked here: pipe it to "sluice login"`);
  const typed = isPiped ? await io.input() : await prompts?.secret(`API key for ${url}`);
  const key = typed?.trim() ?? '';
  if (KEY.test(key)) return key;
  const where = isPiped ? 'standard input' : 'what was typed';
  const problem = key === '' ? 'is empty' : `is ${key.length} characters`;
  throw wrongUsage(`${where} ${problem}: an API key has 16 to 200 characters without blanks`);
};

const workspaceFor = async ({ globals, prompts }: Context, { workspaces }: Me): Promise<Workspace | undefined> => {
  if (globals.workspace !== undefined) return workspaceNamed(workspaces, globals.workspace);
  const [first, ...others] = workspaces;
  if (others.length === 0) return first;
  if (prompts === undefined)
    throw wrongUsage(
      'login needs a workspace, and nobody can be asked here:',
      workspaces.map((each) => `--workspace ${each.id}  ${each.name}`),
    );
  const choices = workspaces.map((each) => ({ name: nameAndId(each), value: each.id }));
  return workspaceNamed(workspaces, await prompts.choose('Workspace', choices));
};

interface LoggedIn {
  readonly url: string;
  readonly profile: string | null;
  readonly me: Me;
  readonly workspace: Workspace | undefined;
}

const toldOf = ({ url, profile, me: { user, apiKey }, workspace }: LoggedIn): Told => {
  const where = workspace === undefined ? 'no workspace' : `workspace ${nameAndId(workspace)}`;
  const by = profile === null ? 'key of SLUICE_API_KEY' : `profile ${profile}`;
  return {
    data: { url, profile, user, workspace: workspace ?? null, api_key: apiKey },
    lines: [`Logged in to ${url} as ${user.username} (${user.email}), ${where}, ${by}.`],
  };
};

const whoami = async (context: Context): Promise<Told> => {
  const session = await context.session();
  const me = await session.me();
  const id = await session.workspaceId();
  const workspace = me.workspaces.find((each) => each.id === id);
  if (workspace === undefined) workspaceNamed(me.workspaces, id);
  return toldOf({ url: session.server.url, profile: session.profile, me, workspace });
};

const logout = async (context: Context): Promise<Told> => {
  const { globals, io, profiles } = context;
  const known = profiles.read();
  const name = globals.profile ?? io.given('SLUICE_PROFILE')?.value ?? known.current;
  if (name === null) throw wrongUsage('no profile is kept here: nothing to log out of');
  const profile = Object.hasOwn(known.profiles, name) ? known.profiles[name] : undefined;
  if (profile === undefined) throw noProfile(name, Object.keys(known.profiles));
  const { apiKey: key } = await keyOf(profile);
  // Read again, because a login may have ended since.
  const { current, profiles: kept, folders } = profiles.read();
  const { [name]: _, ...others } = kept;
  profiles.write({ current: current === name ? null : current, profiles: others, folders });
  const end =
    key === null ? 'Its key could not be read from there.' : `Its key is valid until "sluice keys revoke ${key.id}".`;
  return {
    data: { url: profile.url, profile: name, api_key: key },
    lines: [`Logged out of ${profile.url}, profile ${name}. ${end}`],
  };
};

/** A server that does not answer keeps nobody logged in. */
const keyOf = async ({ url, apiKey }: { url: string; apiKey: string }): Promise<Pick<Me, 'apiKey'>> => {
  try {
    return await readMe({ url, apiKey });
  } catch (error) {
    if (error instanceof CommandFailure) return { apiKey: null };
    throw error;
  }
};
