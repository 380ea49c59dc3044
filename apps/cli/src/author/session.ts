import { ask, type Asked, askForStream, askForText, jsonIn } from './api.js';
import { CommandFailure } from './failure.js';
import { chooseServer, notConfirmed, type Server } from './server.js';
import { type Context } from './context.js';
import { exactly, fieldText, type Fields, isFields } from './json.js';
import { harmless } from './text.js';

/** A server with the key of a command, and the workspace in which the command acts. */
export class Session {
  private asked: Promise<Me> | undefined;

  constructor(
    readonly server: Server,
    readonly profile: string | null,
    /** Id or name of `--workspace`, or the id of the profile's. */
    private readonly wanted: string | null,
  ) {}

  /** Sends a request in the workspace. Resolves with the JSON of the answer, with the digits of its numbers. */
  async request(asked: Asked): Promise<Fields> {
    const text = await this.text(asked);
    if (text === '') return {};
    const body = valueOf(text);
    if (isFields(body)) return body;
    throw this.unexpected('an object');
  }

  /** As `request`, with each number as a double: definitions of workflows have no others. Undefined for no JSON. */
  async plain(asked: Asked): Promise<unknown> {
    return jsonIn(await this.text(asked));
  }

  /** As `request`, and resolves with the body as it came. */
  async text(asked: Asked): Promise<string> {
    const workspace = await this.namedWorkspace();
    const path = workspace === null ? asked.path : withQuery(asked.path, { workspace_id: workspace });
    return askForText(this.server, { ...asked, path });
  }

  /** Opens a stream of a workspace, after the cursor. Resolves once the server sends. Rejects with CommandFailure. */
  async stream(
    workspaceId: string,
    query: Readonly<Record<string, string | undefined>>,
    cursor: string | undefined,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const path = withQuery(`/v1/workspaces/${workspaceId}/sse`, query);
    return askForStream(this.server, path, cursor === undefined ? {} : { 'last-event-id': cursor }, signal);
  }

  /** The user of the key. Asked once. */
  me(): Promise<Me> {
    return (this.asked ??= readMe(this.server));
  }

  /** The workspace of the command: the wanted one, else that of the user's account. */
  async workspaceId(): Promise<string> {
    const named = await this.namedWorkspace();
    if (named !== null) return named;
    const [own] = (await this.me()).workspaces;
    if (own !== undefined) return own.id;
    throw this.unexpected('a workspace');
  }

  /** The wanted workspace, or null. Rejects with 4 for a name that no workspace of the user has. */
  async namedWorkspace(): Promise<string | null> {
    if (this.wanted === null || isWorkspaceId(this.wanted)) return this.wanted;
    return workspaceNamed((await this.me()).workspaces, this.wanted).id;
  }

  unexpected(what: string): CommandFailure {
    return new CommandFailure({
      exit: 1,
      code: 'unexpected_answer',
      message: `${this.server.url} did not answer with ${what}: check the address and the version of the server`,
    });
  }
}

/** Undefined for what is no JSON, or is nested too deep to be read. */
const valueOf = (text: string): unknown => {
  try {
    return exactly(text);
  } catch {
    return undefined;
  }
};

export interface Workspace {
  readonly id: string;
  readonly name: string;
}

export interface Me {
  readonly user: { readonly id: string; readonly username: string; readonly email: string };
  readonly apiKey: { readonly id: string; readonly name: string } | null;
  readonly workspaces: readonly Workspace[];
}

export const readMe = async (server: Server): Promise<Me> => {
  const answer = await ask(server, { method: 'GET', path: '/v1/users/me' });
  const data = isFields(answer) ? answer['data'] : undefined;
  const [id, username, email] = ['id', 'username', 'email'].map((key) => fieldText(data, key));
  if (!isFields(data) || !id || !username || email === undefined)
    throw new CommandFailure({
      exit: 1,
      code: 'unexpected_answer',
      message: `${server.url} did not answer with a user: check the address and the version of the server`,
    });
  const { orgs, api_key: key } = data;
  const workspaces = (Array.isArray(orgs) ? orgs : []).map((org) => ({
    id: fieldText(org, 'id'),
    name: fieldText(org, 'name'),
  }));
  const apiKey = isFields(key) ? { id: fieldText(key, 'id'), name: fieldText(key, 'name') } : null;
  return { user: { id, username, email }, apiKey, workspaces };
};

const isWorkspaceId = (text: string): boolean => /^o_\w+$/.test(text);

/** The workspace with this id or exact name. Throws CommandFailure. */
export const workspaceNamed = (workspaces: readonly Workspace[], wanted: string): Workspace => {
  const byId = workspaces.find(({ id }) => id === wanted);
  const found = byId === undefined ? workspaces.filter(({ name }) => name === wanted) : [byId];
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const shown = JSON.stringify(wanted.slice(0, 100));
  if (only === undefined)
    throw new CommandFailure({
      exit: 4,
      code: 'workspace_not_found',
      message: `you are in no workspace ${shown}. Yours: ${workspaces.map(nameAndId).join(', ')}`,
    });
  throw new CommandFailure({
    exit: 2,
    code: 'usage',
    message: `several workspaces are called ${shown}: give the id`,
    lines: found.map(nameAndId),
  });
};

export const nameAndId = ({ id, name }: Workspace): string => `${name} (${id})`;

/** A path with further parameters. */
export const withQuery = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  if (given.length === 0) return path;
  const text = given.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&');
  return `${path}${path.includes('?') ? '&' : '?'}${text}`;
};

/** Chooses the server of a command. A server elsewhere that only `./.env` names is confirmed once a folder. */
export const openSession = async (context: Context): Promise<Session> => {
  const { globals, io, prompts, profiles } = context;
  const known = profiles.read();
  const { url, apiKey, profile, workspaceId, unconfirmed } = chooseServer(io.given, globals, known);
  if (unconfirmed !== null) {
    const question = `./.env of this folder names the server ${unconfirmed}. Use it from here?`;
    if (prompts === undefined || !(await prompts.confirm(question))) throw notConfirmed(unconfirmed);
    profiles.write({ ...known, folders: { ...known.folders, [process.cwd()]: unconfirmed } });
  }
  const tell = globals.verbose ? { tell: (text: string) => io.err(harmless(text)) } : {};
  return new Session({ url, apiKey, ...tell }, profile, globals.workspace ?? workspaceId);
};
