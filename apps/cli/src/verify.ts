import path from 'node:path';
import { type Command } from 'commander';
import { type Engines } from '#libs/composition/engines.js';
import { checkedDatabases, damagedBlobs } from '#libs/engines/embedded/verify.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { tell } from './progress.js';
import { checkDataDirectory, readConfig, withEngines } from './with-engines.js';

export const registerVerify = (program: Command): void => {
  program
    .command('verify [dir]')
    .description(
      'Checks a data directory: its databases page by page, each blob against its hash, and whether the secret key opens ' +
        'every secret. Use it on a backup, or after a disk failed. The server must be stopped. Changes nothing.',
    )
    .action((dir: string | undefined) => verify(dir));
};

const verify = async (dir: string | undefined): Promise<void> => {
  const settings = readConfig();
  const config = { ...settings, engine: 'embedded' as const, dataDir: dir ?? settings.dataDir };
  checkDataDirectory(config.dataDir, false);
  const faults: string[] = [];
  const result = (what: string, found: readonly string[], whole: string): void => {
    tell(`${what.padEnd(12)} ${found.length === 0 ? whole : 'DAMAGED'}`);
    faults.push(...found.map((fault) => `${what}: ${fault}`));
  };
  // The databases are checked first, because the engines cannot be opened on broken ones.
  for (const { name, faults: found } of checkedDatabases(config.dataDir)) result(name, found, 'whole');
  if (faults.length === 0)
    await withEngines(
      async ({ blobs, vault }) => {
        result('blobs', ...(await blobFaults(blobs)));
        result('secrets', ...(await secretFaults(vault)));
      },
      { config },
    );
  if (faults.length === 0) return tell(`${path.resolve(config.dataDir)} is whole.`);
  throw new Error(
    `${path.resolve(config.dataDir)} is damaged:\n${faults.map((fault) => `  ${fault}`).join('\n')}\n` +
      `Put it back from a backup. read.db alone can be rebuilt: remove it, and start the server`,
  );
};

const blobFaults = async (blobs: Engines['blobs']): Promise<[string[], string]> => {
  let count = 0;
  for await (const _hash of blobs.hashes()) count++;
  const damaged: string[] = [];
  for await (const hash of damagedBlobs(blobs)) damaged.push(`${hash} has other content than its name says`);
  return [damaged, `${count} whole`];
};

const secretFaults = async (vault: Engines['vault']): Promise<[string[], string]> => {
  let count = 0;
  try {
    for await (const { ref } of vault.entries()) if (ref !== '') count++;
    return [[], `${count} open with the secret key`];
  } catch (error) {
    return [[`after ${count} that open: ${messageOf(error)}`], ''];
  }
};
