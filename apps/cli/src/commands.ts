import { type Command } from 'commander';
import { type operators } from './operators.js';

type Register = (program: Command) => void;

export interface CommandEntry {
  readonly name: string;
  readonly group: 'Develop' | 'Use' | 'Operate';
  /** One line in the list of commands. */
  readonly summary: string;
  /** Loads the code of the command, which the list of commands does not need. */
  readonly load: () => Promise<Register>;
}

/** Commands that talk to a server by its API. */
const AUTHORS: readonly CommandEntry[] = [
  {
    name: 'deploy',
    group: 'Develop',
    summary: 'Deploys a source',
    load: async () => (await import('./author/deploy.js')).registerDeploy,
  },
  {
    name: 'dev',
    group: 'Develop',
    summary: 'Deploys a file at each save, and shows what happens',
    load: async () => (await import('./author/dev/index.js')).registerDev,
  },
  {
    name: 'init',
    group: 'Develop',
    summary: 'Writes a new component with a test',
    load: async () => (await import('./init/init-command.js')).registerInit,
  },
  {
    name: 'publish',
    group: 'Develop',
    summary: 'Saves a component, to be deployed by its key',
    load: async () => (await import('./author/publish.js')).registerPublish,
  },
  {
    name: 'test',
    group: 'Develop',
    summary: 'Runs the tests of components',
    load: async () => (await import('./tests/test-command.js')).registerTest,
  },
  {
    name: 'unpublish',
    group: 'Develop',
    summary: 'Deletes a component',
    load: async () => (await import('./author/publish.js')).registerUnpublish,
  },
  {
    name: 'workflows',
    group: 'Develop',
    summary: 'Checks, compares and deploys workflows in a folder',
    load: async () => (await import('./workflows/index.js')).registerWorkflows,
  },
  {
    name: 'accounts',
    group: 'Use',
    summary: 'Connects, changes and deletes accounts of apps',
    load: async () => (await import('./author/accounts.js')).registerAccounts,
  },
  {
    name: 'api',
    group: 'Use',
    summary: 'Sends a request to any route of the API',
    load: async () => (await import('./author/api-command.js')).registerApi,
  },
  {
    name: 'audit',
    group: 'Use',
    summary: 'Lists what happened in the workspace',
    load: async () => (await import('./author/audit.js')).registerAudit,
  },
  {
    name: 'delete',
    group: 'Use',
    summary: 'Deletes sources',
    load: async () => (await import('./author/switch-sources.js')).registerDelete,
  },
  {
    name: 'describe',
    group: 'Use',
    summary: 'Tells about a source, webhook, workflow or component',
    load: async () => (await import('./author/describe.js')).registerDescribe,
  },
  {
    name: 'errors',
    group: 'Use',
    summary: 'Prints errors of a source',
    load: async () => (await import('./author/events.js')).registerErrors,
  },
  {
    name: 'events',
    group: 'Use',
    summary: 'Prints events of a source',
    load: async () => (await import('./author/events.js')).registerEvents,
  },
  {
    name: 'keys',
    group: 'Use',
    summary: 'Lists, creates and revokes your API keys',
    load: async () => (await import('./author/keys.js')).registerKeys,
  },
  {
    name: 'list',
    group: 'Use',
    summary: 'Lists sources and other resources',
    load: async () => (await import('./author/list.js')).registerList,
  },
  {
    name: 'login',
    group: 'Use',
    summary: 'Keeps a server and an API key for later commands',
    load: async () => (await import('./author/login.js')).registerLogin,
  },
  {
    name: 'logout',
    group: 'Use',
    summary: 'Forgets a server and its API key',
    load: async () => (await import('./author/login.js')).registerLogout,
  },
  {
    name: 'logs',
    group: 'Use',
    summary: 'Prints what a source logged',
    load: async () => (await import('./author/events.js')).registerLogs,
  },
  {
    name: 'members',
    group: 'Use',
    summary: 'Lists, adds and removes members of the workspace',
    load: async () => (await import('./author/members.js')).registerMembers,
  },
  {
    name: 'open',
    group: 'Use',
    summary: 'Opens the console in a browser',
    load: async () => (await import('./author/open/index.js')).registerOpen,
  },
  {
    name: 'replay',
    group: 'Use',
    summary: 'Sends kept events to a listener again',
    load: async () => (await import('./author/replay.js')).registerReplay,
  },
  {
    name: 'run',
    group: 'Use',
    summary: 'Runs a source once',
    load: async () => (await import('./author/run.js')).registerRun,
  },
  {
    name: 'runs',
    group: 'Use',
    summary: 'Lists the runs of a source, or tells of one',
    load: async () => (await import('./author/runs.js')).registerRuns,
  },
  {
    name: 'start',
    group: 'Use',
    summary: 'Activates sources',
    load: async () => (await import('./author/switch-sources.js')).registerStart,
  },
  {
    name: 'stop',
    group: 'Use',
    summary: 'Deactivates sources',
    load: async () => (await import('./author/switch-sources.js')).registerStop,
  },
  {
    name: 'stores',
    group: 'Use',
    summary: 'Reads and writes data stores and their records',
    load: async () => (await import('./author/stores.js')).registerStores,
  },
  {
    name: 'subscribe',
    group: 'Use',
    summary: 'Sends events of an emitter to a listener',
    load: async () => (await import('./author/subscribe.js')).registerSubscribe,
  },
  {
    name: 'unsubscribe',
    group: 'Use',
    summary: 'Ends a subscription',
    load: async () => (await import('./author/subscribe.js')).registerUnsubscribe,
  },
  {
    name: 'update',
    group: 'Use',
    summary: 'Changes a source',
    load: async () => (await import('./author/update.js')).registerUpdate,
  },
  {
    name: 'webhooks',
    group: 'Use',
    summary: 'Manages webhooks, and what they were sent',
    load: async () => (await import('./author/webhooks.js')).registerWebhooks,
  },
  {
    name: 'whoami',
    group: 'Use',
    summary: 'Tells the server, user and workspace that commands use',
    load: async () => (await import('./author/login.js')).registerWhoami,
  },
];

const operator = (name: keyof typeof operators, summary: string): CommandEntry => ({
  name,
  group: 'Operate',
  summary,
  load: async () => (await import('./operators.js')).operators[name],
});

/** Commands on an installation, without its API. */
const OPERATORS: readonly CommandEntry[] = [
  operator('admin', 'Manages users, workspaces, memberships and API keys'),
  {
    name: 'completion',
    group: 'Use',
    summary: 'Prints a script with which a shell completes commands',
    load: async () => (await import('./completion/index.js')).registerCompletion,
  },
  operator('config', 'Lists every setting with the value in force'),
  operator('export', 'Writes the whole installation to a folder'),
  operator('import', 'Creates an installation from an archive of export'),
  operator('key', 'Issues, lists and revokes API keys without an API key'),
  operator('rebuild', 'Rebuilds every read model from the logs'),
  operator('registry', 'Manages the components that every workspace may deploy by key'),
  operator('rotate-key', 'Encrypts every secret under a new secret key'),
  {
    name: 'serve',
    group: 'Operate',
    summary: 'Starts a server',
    load: async () => (await import('./serve.js')).registerServe,
  },
  operator('user', 'Adds a user with a workspace of their own'),
  operator('verify', 'Checks a data directory'),
];

export const COMMANDS: readonly CommandEntry[] = [...AUTHORS, ...OPERATORS];

export const isAuthors = (name: string): boolean => AUTHORS.some((entry) => entry.name === name);
