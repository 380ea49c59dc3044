import { openEmbedded, type EmbeddedEngines, type EmbeddedOptions } from '../index.js';

/** Opens the engines on a data directory, with a key that is the same each time. A write that fails for good throws. */
export const openEngines = (dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedEngines> =>
  openEmbedded({
    dataDir,
    secretKey: Buffer.alloc(32, 1),
    clock: { now: () => Date.now() },
    onFatal: (error) => {
      throw error;
    },
    ...options,
  });
