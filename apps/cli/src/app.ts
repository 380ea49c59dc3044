import { runProgram } from './program.js';

// A reader like `head` may close the pipe early, which is no failure of the command.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });

await runProgram(process.argv.slice(2));
