import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { freePorts } from './free-port.js';

const MAIN = join(ROOT, 'dist/test/engines/eventstore-stand-in/main.js');

export interface StandInProcess {
  /** esdb://… */
  readonly url: string;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** The stand-in for EventStoreDB as a process, for tests in which several processes share one. */
export const startStandIn = async (): Promise<StandInProcess> => {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing: run npm run build`);
  const dir = tempDir('eventstore');
  const [port] = await freePorts(1);
  const child = spawn(process.execPath, [MAIN, '--port', String(port), '--dir', dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    removeDir(dir);
  };
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return { url: (JSON.parse(line) as { url: string }).url, stop };
  }
  await stop();
  throw new Error('the stand-in for EventStoreDB ended before it listened');
};
