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
  const found: string[] = [];
  for await (const { name, whole, faults } of checkedDirectory(dir, keysOf)) {
    tell(`${name.padEnd(12)} ${faults.length > 0 ? 'DAMAGED' : name.endsWith('.db') ? 'whole' : `${whole} whole`}`);
    found.push(...faults.map((fault) => `${name}: ${fault}`));
  }
  const where = path.resolve(dir);
  if (found.length === 0) return tell(`${where} is whole.`);
  throw new Error(
    `${where} is damaged:\n${found.map((fault) => `  ${fault}`).join('\n')}\n` +
      `Put it back from a backup. read.db alone can be rebuilt: remove it, and start the server`,
  );
};
