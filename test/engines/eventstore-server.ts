import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endsWithUs } from '#test/harness/ends-with-us.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { type Certificates } from './eventstore-certificates.js';
import { freePorts } from './free-port.js';

/** Folder of an unpacked EventStoreDB with the program `eventstoredb`, or undefined. */
export const eventStoreHome = (): string | undefined => {
  const home = process.env.SLUICE_TEST_EVENTSTORE_HOME;
  return home === undefined || home === '' ? undefined : home;
};

/** Why none can be started. */
export const NO_EVENT_STORE = 'SLUICE_TEST_EVENTSTORE_HOME does not name an unpacked EventStoreDB';

/** One process of a real EventStoreDB, on disk. */
export interface EventStoreNode {
  readonly port: number;
  /** Id of the current process, or of the last one. */
  readonly pid: number;
  kill9(): Promise<void>;
  /** Starts it after it ended, on the same ports and files. Resolves when it answers. */
  start(): Promise<void>;
}

export interface EventStoreServer extends EventStoreNode {
  /** esdb://… */
  readonly url: string;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

export interface EventStoreCluster {
  /** esdb://… of all nodes. */
  readonly url: string;
  readonly nodes: readonly EventStoreNode[];
  /** The node that leads now. Undefined during an election. */
  leader(): Promise<EventStoreNode | undefined>;
  /** Ends all, and removes their data. */
  stop(): Promise<void>;
}

const START_MS = 180_000;
/** Small, for busy machines. */
const SIZE = ['--stream-existence-filter-size=10000000', '--worker-threads=2', '--reader-threads-count=2'] as const;
/** A busy machine keeps nodes waiting for longer than the second that they have by default. */
const PATIENCE = ['--replication-heartbeat-interval=1000', '--replication-heartbeat-timeout=4000'] as const;
const HOST = '127.0.0.1';

/** A server of one node without TLS. Rejects with its last log lines when it does not start. */
export const startEventStore = async (args: readonly string[] = []): Promise<EventStoreServer> => {
  const dir = tempDir('eventstoredb');
  const [port = 0, replicationPort = 0] = await freePorts(2);
  const node = await startNode({ dir, port, replicationPort, args: ['--insecure', ...args] });
  return served(node, `esdb://${HOST}:${port}?tls=false`, dir);
};

/** A server of one node with TLS and users (admin and ops, password changeit). `url` is that of admin. */
export const startSecureEventStore = async (certificates: Certificates): Promise<EventStoreServer> => {
  const dir = tempDir('eventstoredb');
  const [port = 0, replicationPort = 0] = await freePorts(2);
  const { ca, caDir, nodeCertificate, nodeKey } = certificates;
  const args = [
    ...['--certificate-file', nodeCertificate, '--certificate-private-key-file', nodeKey],
    ...['--trusted-root-certificates-path', caDir],
  ];
  const node = await startNode({ dir, port, replicationPort, args, ca: readFileSync(ca) });
  return served(node, `esdb://admin:changeit@${HOST}:${port}?tls=true&tlsCaFile=${ca}`, dir);
};

/** Three nodes without TLS. Resolves when one leads. */
export const startEventStoreCluster = async (): Promise<EventStoreCluster> => {
  const dir = tempDir('eventstoredb-cluster');
  const ports = await freePorts(6);
  const nodePorts = ports.slice(0, 3);
  const nodes = await Promise.all(
    nodePorts.map((port, n) => {
      const seeds = nodePorts.filter((other) => other !== port).map((other) => `${HOST}:${other}`);
      const cluster = ['--cluster-size', '3', '--discover-via-dns=false', '--gossip-seed', seeds.join(',')];
      const place = { dir: join(dir, String(n)), port, replicationPort: ports[3 + n] ?? 0 };
      return startNode({ ...place, args: ['--insecure', ...cluster, ...PATIENCE] });
    }),
  );
  const leader = async (): Promise<EventStoreNode | undefined> => {
    const leading = await leadingPort(nodePorts);
    return nodes.find(({ port }) => port === leading);
  };
  for (const until = Date.now() + START_MS; !(await leader()); await sleep(200)) {
    if (Date.now() > until) throw new Error('no node of EventStoreDB leads');
  }
  return {
    url: `esdb://${nodePorts.map((port) => `${HOST}:${port}`).join(',')}?tls=false`,
    nodes,
    leader,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.kill9()));
      removeDir(dir);
    },
  };
};

const served = (node: EventStoreNode & { shutDown(): Promise<void> }, url: string, dir: string): EventStoreServer => ({
  url,
  port: node.port,
  get pid() {
    return node.pid;
  },
  kill9: () => node.kill9(),
  start: () => node.start(),
  stop: async () => {
    await node.shutDown();
    removeDir(dir);
  },
});

interface NodeOptions {
  readonly dir: string;
  readonly port: number;
  readonly replicationPort: number;
  readonly args: readonly string[];
  /** Certificate authority of its certificate, with TLS. */
  readonly ca?: Buffer;
}

const startNode = async (options: NodeOptions): Promise<EventStoreNode & { shutDown(): Promise<void> }> => {
  let child = await launch(options);
  let isEnded = false;
  let restarting = Promise.resolve();
  // A node whose log has records that the new leader lacks truncates them, ends with code 0, and must be started again.
  const supervise = (): void => {
    child.once('exit', (code) => {
      if (code !== 0 || isEnded) return;
      restarting = launch(options).then((next) => {
        child = next;
        supervise();
      });
      // `end` and `start` report failures.
      restarting.catch(() => undefined);
    });
  };
  supervise();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    isEnded = true;
    await restarting;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    port: options.port,
    get pid() {
      return child.pid ?? -1;
    },
    kill9: () => end('SIGKILL'),
    shutDown: () => end('SIGTERM'),
    start: async () => {
      child = await launch(options);
      isEnded = false;
      supervise();
    },
  };
};

/** How often a node may end with code 0 while it starts. */
const RESTARTS = 3;

/** Resolves when it answers. */
const launch = async (options: NodeOptions, restarts = RESTARTS): Promise<ChildProcess> => {
  const child = launchOnce(options);
  const logs = join(options.dir, 'log');
  for (const until = Date.now() + START_MS; ; await sleep(100)) {
    if (child.exitCode === 0 && restarts > 0) return launch(options, restarts - 1);
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`EventStoreDB did not start:\n${lastLinesIn(logs)}`);
    }
    if ((await healthOf(options.port, options.ca)) === 204) return child;
  }
};

const launchOnce = ({ dir, port, replicationPort, args }: NodeOptions): ChildProcess => {
  const home = eventStoreHome();
  if (home === undefined) throw new Error(NO_EVENT_STORE);
  const program = join(home, 'eventstoredb');
  if (!existsSync(program))
    throw new Error(`SLUICE_TEST_EVENTSTORE_HOME must be a folder with the program eventstoredb: ${home} has none`);
  const all = [
    ...['--run-projections=None', '--db', join(dir, 'db'), '--log', join(dir, 'log')],
    ...SIZE,
    ...['--node-ip', HOST, '--node-port', String(port)],
    ...['--replication-ip', HOST, '--replication-port', String(replicationPort)],
    ...args,
  ];
  const child = spawn(program, all, { stdio: 'ignore' });
  endsWithUs(child);
  return child;
};

const healthOf = async (port: number, ca: Buffer | undefined): Promise<number | undefined> => {
  const path = `${HOST}:${port}/health/live`;
  if (!ca) return (await fetch(`http://${path}`).catch(() => undefined))?.status;
  return new Promise((resolve) => {
    const request = get(`https://${path}`, { ca, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    request.on('error', () => resolve(undefined));
  });
};

interface Member {
  readonly state: string;
  readonly isAlive: boolean;
  readonly httpEndPointPort: number;
}

/** The port of the leader, according to a node that answers. */
const leadingPort = async (ports: readonly number[]): Promise<number | undefined> => {
  for (const port of ports) {
    const answer = await fetch(`http://${HOST}:${port}/gossip?format=json`).catch(() => undefined);
    if (answer?.status !== 200) continue;
    const { members } = (await answer.json()) as { members: readonly Member[] };
    const leading = members.find(({ state, isAlive }) => isAlive && state === 'Leader');
    if (leading) return leading.httpEndPointPort;
  }
  return undefined;
};

const lastLinesIn = (logs: string): string => {
  if (!existsSync(logs)) return 'it wrote no log';
  const [file] = readdirSync(logs, { recursive: true, encoding: 'utf8' }).filter((name) => /log.*\.json$/.test(name));
  return file === undefined
    ? 'it wrote no log'
    : readFileSync(join(logs, file), 'utf8').split('\n').slice(-6).join('\n');
};
