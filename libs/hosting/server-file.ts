import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '#libs/config/make-directory.js';

/** Writes port, pid and URL, so that other programs can find the process. */
export const writeServerFile = (dataDir: string, facts: { port: number; pid: number; url: string }): void => {
  makeDirectory(dataDir);
  writeFileSync(join(dataDir, 'server.json'), `${JSON.stringify(facts)}\n`);
};
