import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes port, pid and URL, so that other programs can find the process. */
export const writeServerFile = (dataDir: string, facts: { port: number; pid: number; url: string }): void => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(join(dataDir, 'server.json'), `${JSON.stringify(facts)}\n`);
};
