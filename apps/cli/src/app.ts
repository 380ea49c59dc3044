import { version } from '#libs/hosting/version.js';

// A reader like `head` may close the pipe early, which is no failure of the command.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });

const args = process.argv.slice(2);
const [only] = args;
// Scripts ask for it often, and it needs nothing of the program.
if (args.length === 1 && (only === '--version' || only === '-V')) process.stdout.write(`${version()}\n`);
else await (await import('./program.js')).runProgram(args);
