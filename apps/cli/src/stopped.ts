import { pause } from '#libs/async/pause.js';
import { type Engines } from '#libs/composition/engines.js';
import { type Config } from '#libs/config/index.js';
import { SILENCE_MS } from '#libs/kernel/process-registry.js';

/**
 * Resolves when no process of the installation is live; otherwise rejects and names them. On the embedded engine the
 * lock on the data directory ensures it. A live process shows by a changing report, so this reads the registry twice.
 */
export const assertStopped = async ({ registry }: Engines, { engine }: Config): Promise<void> => {
  if (engine === 'embedded') return;
  if ((await registry.live()).length === 0) return;
  await pause(SILENCE_MS + 500);
  const living = await registry.live();
  if (living.length === 0) return;
  const names = living.map(({ role, id }) => `${role} ${id}`).sort();
  throw new Error(`stop the servers first: ${names.length} processes live (${names.join(', ')})`);
};
