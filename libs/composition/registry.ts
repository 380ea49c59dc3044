import path from 'node:path';
import { type INestApplicationContext } from '@nestjs/common';
import { keepRegistry, REGISTRY_WORKSPACE, type RegistryPackages, RegistrySync } from '#libs/components/index.js';
import { type Config } from '#libs/config/index.js';
import { parseSpecifier } from '#libs/packages/specifier.js';
import { type InstallLogger, openPackages } from './packages.js';
import { levelFor } from '#libs/hosting/isolation.js';
import { type RunningWork } from '#libs/kernel/leased-work.js';
import { type Logger } from '#libs/telemetry/index.js';

/** Folder of the registry (SLUICE_REGISTRY_DIR), or undefined when there is none. */
export const registryDirOf = ({ registryDir, engine, dataDir }: Config): string | undefined =>
  registryDir ?? (engine === 'embedded' ? path.join(dataDir, 'registry') : undefined);

export interface RegistryOptions {
  readonly config: Config;
  /** The API with the handlers that save components. */
  readonly api: Pick<INestApplicationContext, 'get'>;
  readonly logger: Logger;
}

export const startRegistry = async ({ config, api, logger }: RegistryOptions): Promise<RunningWork> => {
  const dir = registryDirOf(config);
  return dir === undefined
    ? { stop: async () => undefined }
    : keepRegistry({ dir, sync: api.get(RegistrySync), logger });
};

/**
 * Resolves npm packages of the registry like all others (docs/adr/0021). Refuses a private scope that is not open to
 * every workspace, because every workspace may use the registry.
 */
export const registryPackages = (
  config: Config,
  logger: InstallLogger,
  warn: (text: string) => void,
): RegistryPackages => ({
  async fetch(specifier, use) {
    const named = parseSpecifier(specifier);
    if (!named || named.subpath !== '')
      throw new Error(`"${specifier}" names no npm package: write npm:name, npm:name@version or npm:@scope/name`);
    const packages = openPackages(config, await levelFor(config), logger);
    try {
      const installed = await packages.install({ specifiers: [specifier], workspaceId: REGISTRY_WORKSPACE });
      try {
        for (const { message } of installed.warnings) warn(message);
        const { folder, lock } = installed;
        const found = lock.packages.find(({ place }) => place === lock.specifiers[specifier]);
        if (!found) throw new Error(`the npm package ${specifier} was not installed`);
        await use(path.join(folder, found.place));
        return found.version;
      } finally {
        await installed.release();
      }
    } finally {
      await packages.close();
    }
  },
});
