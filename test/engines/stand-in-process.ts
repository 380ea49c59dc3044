import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endsWithUs } from '#test/harness/ends-with-us.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { freePorts } from './free-port.js';

const MAIN = join(ROOT, 'dist/test/engines/eventstore-stand-in/main.js');

export interface StandInProcess {
  /** esdb://… */
  readonly url: string;
  /** Id of the current process, or of the last one. */
  readonly pid: number;
  kill9(): Promise<void>;
  /** Starts it after `kill9` on the same port and files. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** The stand-in for EventStoreDB as a process, for tests in which several processes share it. */
export const startStandIn = async (): Promise<StandInProcess> => {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing: run npm run build`);
  const dir = tempDir('eventstore');
  const [port = 0] = await freePorts(1);
  let running = await launch(dir, port);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const { child } = running;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    url: running.url,
    get pid() {
      return running.child.pid ?? -1;
    },
    kill9: () => end('SIGKILL'),
    start: async () => {
      running = await launch(dir, port);
    },
    stop: async () => {
      await end('SIGTERM');
      removeDir(dir);
    },
  };
};

/** Resolves when it listens. */
const launch = async (dir: string, port: number): Promise<{ readonly child: ChildProcess; readonly url: string }> => {
  const child = spawn(process.execPath, [MAIN, '--port', String(port), '--dir', dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endsWithUs(child);
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return { child, url: (JSON.parse(line) as { url: string }).url };
  }
  throw new Error('the stand-in for EventStoreDB ended before it listened');
};
