import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endsWithUs } from '#test/harness/ends-with-us.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { freePorts } from './free-port.js';

/** Folder of an unpacked EventStoreDB with the program `eventstoredb`, or undefined. */
export const eventStoreHome = (): string | undefined => {
  const home = process.env.SLUICE_TEST_EVENTSTORE_HOME;
  return home === undefined || home === '' ? undefined : home;
};

export interface EventStoreServer {
  /** esdb://… */
  readonly url: string;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

const START_MS = 60_000;

/** A real EventStoreDB of one node, on disk, without TLS. Rejects with its last log lines when it does not start. */
export const startEventStore = async (home: string): Promise<EventStoreServer> => {
  const program = join(home, 'eventstoredb');
  if (!existsSync(program))
    throw new Error(`SLUICE_TEST_EVENTSTORE_HOME must be a folder with the program eventstoredb: ${home} has none`);
  const dir = tempDir('eventstoredb');
  const [port = 0, replicationPort = 0] = await freePorts(2);
  const child = await launch(program, dir, port, replicationPort);
  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      removeDir(dir);
    },
  };
};

/** Resolves when it takes appends. */
const launch = async (program: string, dir: string, port: number, replicationPort: number): Promise<ChildProcess> => {
  const logs = join(dir, 'log');
  const args = [
    ...['--insecure', '--run-projections=None', '--db', join(dir, 'db'), '--log', logs],
    ...['--node-ip', '127.0.0.1', '--node-port', String(port)],
    ...['--replication-ip', '127.0.0.1', '--replication-port', String(replicationPort)],
  ];
  const child = spawn(program, args, { stdio: 'ignore' });
  endsWithUs(child);
  for (const until = Date.now() + START_MS; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`EventStoreDB did not start:\n${lastLinesIn(logs)}`);
    }
    const alive = await fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined);
    if (alive?.status === 204) return child;
  }
};

const lastLinesIn = (logs: string): string => {
  if (!existsSync(logs)) return 'it wrote no log';
  const [file] = readdirSync(logs, { recursive: true, encoding: 'utf8' }).filter((name) => /log.*\.json$/.test(name));
  return file === undefined
    ? 'it wrote no log'
    : readFileSync(join(logs, file), 'utf8').split('\n').slice(-6).join('\n');
};
