import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made = new Set<string>();
let armed = false;

/**
 * Creates a folder under the system's temp directory. It is also removed when this process exits without cleaning up.
 */
export const tempDir = (purpose: string): string => {
  if (!armed) {
    armed = true;
    process.once('exit', () => made.forEach(removeDir));
  }
  const dir = mkdtempSync(join(tmpdir(), `sluice-${purpose}-`));
  made.add(dir);
  return dir;
};

export const removeDir = (dir: string): void => {
  made.delete(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
};
