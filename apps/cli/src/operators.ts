import { type Command } from 'commander';
import { registerAdmin } from './admin/index.js';
import { registerConfig } from './config.js';
import { registerExport } from './export.js';
import { registerImport } from './import.js';
import { registerKey } from './key.js';
import { registerRebuild } from './rebuild.js';
import { registerRegistry } from './registry.js';
import { registerRotateKey } from './rotate-key.js';
import { registerUser } from './user.js';
import { registerVerify } from './verify.js';

/**
 * The commands on an installation, by name. They are loaded together: each of them needs most of the server, and more
 * places where a bundle may be cut would cut through packages whose modules import each other in a circle.
 */
export const operators = {
  admin: registerAdmin,
  config: registerConfig,
  export: registerExport,
  import: registerImport,
  key: registerKey,
  rebuild: registerRebuild,
  registry: registerRegistry,
  'rotate-key': registerRotateKey,
  user: registerUser,
  verify: registerVerify,
} satisfies Readonly<Record<string, (program: Command) => void>>;
