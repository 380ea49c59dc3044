import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { serverArguments } from '../../serve.js';
import { CommandFailure, wrongUsage } from '../failure.js';
import { givenHere, type Server } from '../server.js';
import { exactly, isFields } from '../json.js';

export interface OwnServer extends Server {
  stop(): Promise<void>;
}

/** What the program of the server knows (libs/hosting/end-with-parent.ts). */
const ENDS_WITH_PARENT = '--ends-with-parent';
const START_MS = 60_000;
const STOP_MS = 10_000;
const POLL_MS = 20;

/**
 * Settings that the user gives a server of their own, too. Others are those of another installation. Those of `./.env`
 * are not given, because the folder may be somebody else's, whose code must not loosen its own jail.
 */
const isPassed = (name: string): boolean =>
  PASSED.test(name) && (!name.startsWith('SLUICE_') || givenHere(name)?.from === 'environment');

const PASSED =
  /^(?!SLUICE_)|^SLUICE_(?:HEAP_MB|ISOLATION|IN_IMAGE|EGRESS_\w+|NPM_\w+|ACCOUNT_ENV|REGISTRY_DIR|RUN_TIMEOUT_S|HOOK_TIMEOUT_S|MEMORY_MB|MAX_BODY_KB|SMTP_\w+)$/;

/**
 * Starts a server for one user on a free port of this computer, with its data in `.sluice/dev` of the folder. It ends
 * with this process, however that ends. Where another process of this user has started it already, that one is used.
 * Rejects with CommandFailure.
 */
export const startOwnServer = async (folder: string): Promise<OwnServer> => {
  const beside = path.join(folder, '.sluice');
  const data = path.join(beside, 'dev');
  refuseLinks(beside, data);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  hideFromGit(beside);
  const apiKey = keyIn(beside);
  const former = facts(data);
  if (former !== undefined && (await answers(former.url, apiKey)))
    return { url: former.url, apiKey, stop: () => Promise.resolve() };
  const child = launched(data, apiKey, (await isFree(former?.port ?? 0)) ? (former?.port ?? 0) : 0);
  try {
    const url = await ready(child, data, apiKey);
    return { url, apiKey, stop: () => stopped(child) };
  } catch (error) {
    await stopped(child);
    throw error;
  }
};

/** What a project came with must not lead to other files of its user, which would be written. */
const refuseLinks = (...folders: readonly string[]): void => {
  for (const folder of folders) {
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return;
    const entries = readdirSync(folder, { withFileTypes: true });
    const link = isLink(folder)
      ? folder
      : entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => path.join(folder, name))[0];
    if (link !== undefined)
      throw wrongUsage(`${link} is a symbolic link, and the own server would write where it leads: remove it`);
  }
};

const isLink = (file: string): boolean => lstatSync(file).isSymbolicLink();

/** The folder has a key and data of one computer. */
const hideFromGit = (folder: string): void => {
  const file = path.join(folder, '.gitignore');
  if (!existsSync(file)) writeFileSync(file, '*\n');
};

const keyIn = (beside: string): string => {
  const file = path.join(beside, 'dev.key');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const key = `dev_${randomBytes(24).toString('hex')}`;
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  return key;
};

interface Facts {
  /** Of this computer, whatever the file says. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
}

/** Where the server of this data listens, or did at last. */
const facts = (data: string): Facts | undefined => {
  try {
    const read = exactly(readFileSync(path.join(data, 'server.json'), 'utf8'));
    const [port, pid] = isFields(read) ? [read['port'], read['pid']] : [];
    if (typeof port !== 'number' || typeof pid !== 'number') return undefined;
    return { url: `http://127.0.0.1:${port}`, port, pid };
  } catch {
    // There was none yet, or it ended while it wrote.
    return undefined;
  }
};

const answers = async (url: string, apiKey: string): Promise<boolean> => {
  try {
    const headers = { authorization: `Bearer ${apiKey}` };
    const { status } = await fetch(`${url}/v1/users/me`, { headers, signal: AbortSignal.timeout(2_000) });
    return status === 200;
  } catch {
    return false;
  }
};

/** The port of the last session keeps the addresses of endpoints. */
const isFree = async (port: number): Promise<boolean> => {
  const probe = createServer();
  try {
    probe.listen(port, '127.0.0.1');
    await once(probe, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
};

const launched = (data: string, apiKey: string, port: number): ChildProcess => {
  const given = Object.entries(process.env).filter(([name]) => isPassed(name));
  const env = {
    ...Object.fromEntries(given),
    SLUICE_HOST: '127.0.0.1',
    SLUICE_PORT: String(port),
    SLUICE_DATA_DIR: data,
    SLUICE_API_KEY: apiKey,
    SLUICE_LOG_LEVEL: 'warn',
  };
  const log = openSync(logOf(data), 'w', 0o600);
  try {
    // In a group of its own, so that Ctrl-C does not end it before its source is stopped.
    return spawn(process.execPath, [...serverArguments(env), ENDS_WITH_PARENT], {
      cwd: data,
      env,
      stdio: ['ignore', log, log, 'ipc'],
      detached: true,
      windowsHide: true,
    });
  } finally {
    closeSync(log);
  }
};

const ready = async (child: ChildProcess, data: string, apiKey: string): Promise<string> => {
  const last = Date.now() + START_MS;
  while (Date.now() < last) {
    if (child.exitCode !== null || child.signalCode !== null) throw ended(data);
    const found = facts(data);
    if (found?.pid === child.pid && found !== undefined && (await answers(found.url, apiKey))) return found.url;
    await pause(POLL_MS);
  }
  throw new CommandFailure({
    exit: 1,
    code: 'failed',
    message: `the own server did not start within ${START_MS / 1_000} s: see ${logOf(data)}`,
  });
};

const logOf = (data: string): string => `${data}.log`;

const ended = (data: string): CommandFailure => {
  const log = logOf(data);
  const last = readFileSync(log, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  return new CommandFailure({
    exit: 1,
    code: 'failed',
    message: `the own server did not start: ${last.slice(0, 1_000)} (${log})`,
  });
};

const stopped = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await end;
  clearTimeout(late);
};
