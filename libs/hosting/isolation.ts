import { isIPv4 } from 'node:net';
import { type Config } from '#libs/config/index.js';
import { asError } from '#libs/kernel/error-message.js';
import {
  detectIsolation,
  IsolationUnavailable,
  type JailLevel,
  missingOf,
  type Protection,
} from '#libs/sandbox/index.js';

/**
 * The image contains the seccomp profile that its jails need, for users who only pulled it. Dockerfile and README start
 * with the same command (test/architecture/deployment.spec.ts).
 */
export const DOCKER_RUN =
  'docker run --rm --entrypoint cat sluice /app/deploy/seccomp.json > sluice-seccomp.json && ' +
  'docker run -p 127.0.0.1:3000:3000 -v sluice:/var/lib/sluice --security-opt seccomp=sluice-seccomp.json ' +
  '--security-opt apparmor=unconfined --security-opt no-new-privileges sluice';

type IsolationConfig = Pick<Config, 'isolation' | 'host' | 'inImage'>;

/** Throws IsolationUnavailable when no level that the setting accepts works. */
export const levelFor = async ({ isolation, inImage }: IsolationConfig): Promise<JailLevel> => {
  try {
    return await detectIsolation(isolation);
  } catch (error) {
    if (!(error instanceof IsolationUnavailable) || !inImage) throw error;
    throw new IsolationUnavailable(`${error.message}. In a container start it with: ${DOCKER_RUN}`);
  }
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));

/**
 * Without a jail, a component can reach everything that the server's user can. That is accepted for one workspace on a
 * server that only this machine reaches. Otherwise the operator must set it; throws IsolationUnavailable if not.
 */
export const checkIsolation = (level: JailLevel, config: IsolationConfig, workspaces: number): void => {
  if (level.name !== 'process' || config.isolation === 'process') return;
  const reasons = level.unavailable.join('; ');
  if (config.inImage)
    throw new IsolationUnavailable(
      `components run in a jail only, and this container has none (${reasons}). Start it with: ${DOCKER_RUN} ` +
        `(or, for code that you trust, with -e SLUICE_ISOLATION=process)`,
    );
  const why =
    workspaces > 1
      ? `for ${workspaces} workspaces`
      : isLoopback(config.host)
        ? null
        : `for a server that others reach (SLUICE_HOST is ${config.host})`;
  if (why === null) return;
  throw new IsolationUnavailable(
    `isolation level "process" is too weak ${why}, and no jail works here (${reasons}): install bubblewrap or allow user ` +
      `namespaces, or, for code that you trust, set SLUICE_ISOLATION=process`,
  );
};

interface Workspaces {
  workspaceCount(): number;
  /** Calls `changed` with the number of workspaces whenever one is added. */
  watchWorkspaces(changed: (workspaces: number) => void): void;
}

/**
 * Checks the isolation at start, and again whenever a workspace is added while the process runs. Then the process ends
 * by `fail`, because it would run the code of several workspaces without a wall between them.
 */
export const enforceIsolation = (
  level: JailLevel,
  config: IsolationConfig,
  callers: Workspaces,
  fail: (error: Error) => void,
): void => {
  checkIsolation(level, config, callers.workspaceCount());
  callers.watchWorkspaces((workspaces) => {
    try {
      checkIsolation(level, config, workspaces);
    } catch (error) {
      fail(asError(error));
    }
  });
};

/**
 * Checks, before a workspace is added, that servers with these settings still start. With the distributed engines a
 * pinned level concerns other machines, so it is not tried here.
 */
export const checkIsolationHere = async (
  config: IsolationConfig & Pick<Config, 'engine'>,
  workspaces: number,
): Promise<void> => {
  const elsewhere = config.engine === 'distributed';
  if (elsewhere && config.isolation !== 'auto') return;
  try {
    checkIsolation(await levelFor(config), config, workspaces);
  } catch (error) {
    if (!(error instanceof IsolationUnavailable) || !elsewhere) throw error;
    throw new IsolationUnavailable(
      `${error.message}. If components run on other machines, set SLUICE_ISOLATION here as it is there (jail, bwrap or unshare)`,
    );
  }
};

/** Fields of the log line at the start. */
export const isolationFacts = (level: JailLevel): { isolation: string; without?: readonly Protection[] } => {
  const without = missingOf(level);
  return { isolation: level.name, ...(without.length > 0 ? { without } : {}) };
};
