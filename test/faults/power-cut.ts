import { Command, InvalidArgumentError } from 'commander';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { CutDisk, losesWhatIsNotSynced } from './cut-disk.js';
import { runKillRounds } from './kill9-rounds.js';

exitOnSignals();

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above 0 is needed');
  return value;
};

const { rounds, seed } = new Command('power-cut')
  .description(
    'Cuts the power of a server in the middle of load, again and again, and checks that nothing was lost: kills it, and ' +
      'takes from its disk what was not synced. Needs root, and runs in a mount namespace (unshare --mount).',
  )
  .option('--rounds <n>', 'of load and cuts', whole, 20)
  .option('--seed <n>', 'of the moments of the cuts', whole, Date.now() % 1_000_000)
  .parse()
  .opts<{ rounds: number; seed: number }>();

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const disk = new CutDisk();
if (!losesWhatIsNotSynced(disk))
  throw new Error('this disk does not lose what was not synced: nothing can be shown on it');
say(`${rounds} rounds, seed ${seed}`);
const { problems, ...figures } = await runKillRounds({ rounds, seed, say, disk });
say(JSON.stringify(figures, null, 2));
say(problems.length === 0 ? 'nothing lost, nothing inconsistent' : problems.join('\n'));
process.exitCode = problems.length === 0 ? 0 : 1;
