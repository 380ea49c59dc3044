import path from 'node:path';
import { type Command } from 'commander';
import { previousKeyOf, storedSecretKeyOf } from '#libs/config/index.js';
import { checkedDirectory } from '#libs/engines/embedded/verify.js';
import { tell } from './progress.js';
import { readConfig } from './with-engines.js';

export const registerVerify = (program: Command): void => {
  program
    .command('verify [dir]')
    .description(
      'Checks a data directory: its databases page by page, each blob against its hash, and whether the secret key opens ' +
        'every secret. Use it on a backup, or after a disk failed. The server must be stopped. Changes nothing.',
    )
    .action((dir: string | undefined) => verify(dir));
};

const verify = async (given: string | undefined): Promise<void> => {
  const { dataDir, secretKey, secretKeyPrevious } = readConfig();
  const dir = given ?? dataDir;
  const keysOf = () => ({
    secretKey: storedSecretKeyOf(dir, secretKey),
    previousKey: previousKeyOf(secretKeyPrevious),
  });
  const damaged = new Map<string, readonly string[]>();
  for await (const { name, whole, faults } of checkedDirectory(dir, keysOf)) {
    tell(`${name.padEnd(12)} ${faults.length > 0 ? 'DAMAGED' : name.endsWith('.db') ? 'whole' : `${whole} whole`}`);
    if (faults.length > 0) damaged.set(name, faults);
  }
  const where = path.resolve(dir);
  if (damaged.size === 0) return tell(`${where} is whole.`);
  const lines = [...damaged].flatMap(([name, faults]) => faults.map((fault) => `  ${name}: ${fault}`));
  throw new Error([`${where} is not whole:`, ...lines, ...remediesFor([...damaged.keys()])].join('\n'));
};

/** A fault of the secrets says itself what to do. */
const remediesFor = (damaged: readonly string[]): readonly string[] => [
  ...(damaged.some((name) => name !== 'read.db' && name !== 'secrets')
    ? ['Put the directory back from a backup.']
    : []),
  ...(damaged.includes('read.db') ? ['Remove read.db: the next start rebuilds it.'] : []),
];
