import { type Role } from '#libs/composition/role.js';
import { weakApiKey } from '#libs/config/index.js';
import { bootstrap } from '#libs/tenancy/index.js';

/** Creates a missing owner, workspace and API key, and prints a new key. One process at a time does it. */
export const ownerOnce = async ({ plane, config, logger }: Role): Promise<void> => {
  const { engines, handleCommand, clock, views, follower } = plane;
  const weak = weakApiKey(config);
  if (weak !== undefined) logger.warn({}, weak);
  const lease = await engines.leases.acquire('owner', new AbortController().signal);
  try {
    await follower.upToDate(10_000);
    const deps = { handleCommand, clock, callers: views.callers };
    const { key, position } = await bootstrap(deps, config.apiKey ?? undefined);
    if (position !== undefined) await follower.waitFor(position, 10_000);
    if (key.status === 'given_but_revoked') {
      logger.warn({}, 'the key in SLUICE_API_KEY was revoked and stays revoked: set another one');
    }
    if (key.status === 'made') {
      process.stdout.write(`Your API key, shown this once: ${key.secret}\n`);
      await key.handedOver();
    }
  } finally {
    await lease?.release();
  }
};
