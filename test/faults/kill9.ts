import { Command, InvalidArgumentError } from 'commander';
import { exitOnSignals } from '#test/harness/ends-with-us.js';
import { runKillRounds } from './kill9-rounds.js';
import { queuedEmbedded } from './queued-embedded.js';
import { runQueuedRepeats } from './queued-repeats.js';
import { runWorkflowKills } from './workflow-kills.js';
import { serverToKill } from './workflow-kill-targets.js';

exitOnSignals();

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above 0 is needed');
  return value;
};

const { rounds, seed, queued, workflows } = new Command('kill9')
  .description('Kills the server with -9 in the middle of load, again and again, and checks that nothing was lost.')
  .option('--rounds <n>', 'of load and killing', whole, 20)
  .option('--seed <n>', 'of the moments of killing', whole, Date.now() % 1_000_000)
  .option('--queued <n>', 'instead: so many events of each of five emitters wait for one listener', whole)
  .option('--workflows <n>', 'instead: so many runs of workflows are in flight', whole)
  .parse()
  .opts<{ rounds: number; seed: number; queued?: number; workflows?: number }>();

const say = (line: string): void => void process.stdout.write(`${line}\n`);

say(`${rounds} rounds, seed ${seed}`);
const killed = (): Promise<{ readonly problems: readonly string[] }> => {
  if (workflows !== undefined) return runWorkflowKills(serverToKill(), { rounds, seed, inFlight: workflows, say });
  if (queued !== undefined) return runQueuedRepeats(queuedEmbedded(), { rounds, seed, emitters: 5, queued, say });
  return runKillRounds({ rounds, seed, say });
};
const { problems, ...figures } = await killed();
say(JSON.stringify(figures, null, 2));
say(problems.length === 0 ? 'nothing lost, nothing inconsistent' : problems.join('\n'));
process.exitCode = problems.length === 0 ? 0 : 1;
