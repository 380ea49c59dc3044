import path from 'node:path';
import { WrongSettings, type Config } from '#libs/config/index.js';
import { wrongDenial } from '#libs/packages/deny-list.js';
import { type InstallFacts, PackageStore, type PackageStoreOptions } from '#libs/packages/package-store.js';
import { DEFAULT_PACKAGE_LIMITS } from '#libs/packages/package-limits.js';
import { type RegistryRule } from '#libs/packages/registry-rules.js';
import { type JailLevel } from '#libs/sandbox/index.js';

export interface InstallLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface InstallMetrics {
  onInstall(outcome: InstallOutcome, downloaded: number, bytes: number, ms: number): void;
}

type InstallOutcome = 'cached' | 'installed' | 'failed';

/** Writes one line for each install, and counts it. */
export const installReport =
  (logger: InstallLogger, metrics?: InstallMetrics) =>
  (facts: InstallFacts): void => {
    const outcome = facts.failed !== undefined ? 'failed' : facts.cached ? 'cached' : 'installed';
    const { cached: _, ...rest } = facts;
    logger[outcome === 'failed' ? 'warn' : 'info']({ outcome, ...rest }, 'packages.install');
    metrics?.onInstall(outcome, facts.downloaded, facts.downloaded_bytes, facts.ms);
  };

const HOUR_MS = 3_600_000;

/** Opens the store of npm packages. It starts no process before the first install. Throws WrongSettings. */
export const openPackages = (
  config: Config,
  level: JailLevel,
  logger: InstallLogger,
  metrics?: InstallMetrics,
  env: Readonly<Record<string, string | undefined>> = process.env,
): PackageStore => {
  const problems = config.npmDeny.flatMap((entry) => wrongDenial(entry) ?? []);
  if (problems.length > 0) throw new WrongSettings(problems.map((problem) => `SLUICE_NPM_DENY: ${problem}`));
  return new PackageStore({
    folder: path.resolve(config.packagesDir ?? path.join(config.dataDir, 'packages')),
    level,
    registries: registriesOf(config, env),
    proxy: proxyOf(config),
    scopes: config.npmScopes.map(({ scope, workspaces }) => ({ scope, workspaces })),
    deny: config.npmDeny,
    minAgeMs: config.npmMinAgeH * HOUR_MS,
    offline: config.npmOffline,
    cacheMb: config.packagesCacheMb,
    limits: {
      // The other half is reserved for builds without packages, however slow a registry is.
      atOnce: Math.max(DEFAULT_PACKAGE_LIMITS.atOnce, Math.floor(config.buildsAtOnce / 2)),
    },
    onInstall: installReport(logger, metrics),
  });
};

const proxyOf = ({ egressProxy, egressNoProxy, egressProxyResolves }: Config): PackageStoreOptions['proxy'] =>
  egressProxy === null ? null : { url: egressProxy, noProxy: egressNoProxy, resolvesNames: egressProxyResolves };

const registriesOf = (
  { npmRegistry, npmToken, npmTarballHosts, npmScopes }: Config,
  env: Readonly<Record<string, string | undefined>>,
): readonly RegistryRule[] => [
  { scope: null, url: npmRegistry, token: npmToken, tarballHosts: npmTarballHosts },
  ...npmScopes.map(({ scope, registry, token, tokenVariable, tarballHosts }) => {
    const held = tokenVariable === null ? token : env[tokenVariable];
    if (held === undefined)
      throw new WrongSettings([
        `SLUICE_NPM_SCOPES: the environment variable ${tokenVariable ?? ''}, which holds the token of ${scope}, is not given: set it, or leave token_variable out`,
      ]);
    return { scope, url: registry, token: held, tarballHosts };
  }),
];
