import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Command } from 'commander';
import { NPM_START_HEAP_MB } from '#libs/hosting/heap-flag.js';

export const registerServe = (program: Command): void => {
  program
    .command('serve')
    .description(
      'Starts a server with every role in one process, as `npm start` does, until Ctrl-C. SLUICE_HEAP_MB is its heap, ' +
        'also in ./.env; `sluice config` lists the other settings.',
    )
    .action(serve);
};

const serve = async (): Promise<void> => {
  const server = spawn(process.execPath, serverArguments(process.env), { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void server.kill(signal));
  const [code] = (await once(server, 'close')) as [number | null];
  process.exitCode = code ?? 1;
};

/** Arguments of Node. The heap of Node is an option of its start, so the server is a process of its own. */
export const serverArguments = (env: NodeJS.ProcessEnv): readonly string[] => {
  const given = env['SLUICE_HEAP_MB']?.trim() ?? '';
  // The server refuses what is no number, with the name of the setting.
  const heapMb = /^\d{1,6}$/.test(given) ? given : NPM_START_HEAP_MB;
  const main = fileURLToPath(new URL('../../standalone/src/main.js', import.meta.url));
  return ['--enable-source-maps', '--max-semi-space-size=32', `--max-old-space-size=${heapMb}`, main];
};
