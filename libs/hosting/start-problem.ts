import { maskSecrets } from '#libs/kernel/mask-secrets.js';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { WrongSettings } from '#libs/config/index.js';
import { RefusedStart } from '#libs/config/refused-start.js';
import { IsolationUnavailable } from '#libs/sandbox/index.js';

/** Describes why a process cannot start. Problems that an operator can fix come without a stack. */
export const startProblem = (error: unknown): string => {
  if (!(error instanceof Error)) return maskSecrets(String(error));
  return maskSecrets(operatorProblem(error) ?? (error.stack ?? error.message).replace(/^Error: /, ''));
};

/** Describes a problem that an operator can fix, with the setting that it belongs to. Undefined for any other error. */
export const operatorProblem = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof WrongSettings) return error.message;
  if (error instanceof RefusedStart || error instanceof IsolationUnavailable || error instanceof UnusableDataDirectory)
    return error.message;
  return refusedBySystem(error);
};

const SETTING_OF: Readonly<Record<string, string>> = {
  EventStoreDB: 'SLUICE_EVENTSTORE_URL',
  MongoDB: 'SLUICE_MONGO_URL',
  Kafka: 'SLUICE_KAFKA_BROKERS',
};

/** Describes an engine of the distributed installation that cannot be used, with the setting of its address. */
export const engineProblem = (engine: string, reason: string): string => {
  const setting = SETTING_OF[engine] ?? 'its setting';
  return `${engine} cannot be reached at the address in ${setting}: ${reason}. Start it, or correct ${setting}`;
};

interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/** Names the setting behind a refusal of the operating system. */
const refusedBySystem = (error: SystemError): string | undefined => {
  const { code = '', syscall, address, port, hostname, path } = error;
  if (syscall === 'listen') return cannotListen(code, `${address ?? ''}${port ? `:${port}` : ''}`, error.message);
  if (syscall === 'getaddrinfo') return unknownHost(hostname ?? address ?? '', code);
  if (path === undefined) return undefined;
  const problem = syscall === 'mkdir' && code === 'ENOENT' ? NOTHING_BELOW : FILE_PROBLEMS[code];
  if (problem === undefined) return undefined;
  return `${path}: ${problem} (${code}). SLUICE_DATA_DIR names the data directory`;
};

const NOT_ALLOWED = 'the user of the server may not use it: let that user own it, or choose another folder';
const NOTHING_BELOW = 'no folder can be made at this place: choose another';
const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
  EROFS: 'its file system is read-only: choose a folder that can be written to',
  ENOSPC: 'its disk is full: make room, or choose a folder on another disk',
  ENOTDIR: 'a part of this path is a file: choose a folder',
  EEXIST: 'a file has this name: choose a folder',
  ELOOP: 'a symbolic link in this path leads back to itself: correct the link, or choose another folder',
  ENAMETOOLONG: 'this path is too long: choose a shorter one',
};

const cannotListen = (code: string, place: string, message: string): string => {
  switch (code) {
    case 'EADDRINUSE':
      return `${place} is in use by another process: stop what listens there, or set SLUICE_PORT to another port`;
    case 'EACCES':
      return `this user may not listen on ${place}: set SLUICE_PORT to a port above 1023, with a proxy in front of it`;
    case 'EADDRNOTAVAIL':
      return `SLUICE_HOST: ${place} is no address of this machine: set it to 127.0.0.1, 0.0.0.0, or one that it has`;
    default:
      return `cannot listen on ${place}: ${message}. SLUICE_HOST and SLUICE_PORT set the address`;
  }
};

const unknownHost = (name: string, code: string): string =>
  `SLUICE_HOST: the name ${name} is not known here (${code}): set it to an address of this machine, such as 127.0.0.1`;
