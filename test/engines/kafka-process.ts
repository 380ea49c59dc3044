import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endsWithUs } from '../harness/ends-with-us.js';
import { ROOT } from '../harness/paths.js';
import { removeDir } from '../harness/temp-dir.js';

/** One Kafka process, broker and controller at once. */
export interface KafkaNode {
  readonly id: number;
  readonly dir: string;
  readonly port: number;
  readonly controllerPort: number;
  /** `controller.quorum.voters` of the cluster. */
  readonly voters: string;
  readonly heapMb: number;
  readonly settings: Readonly<Record<string, string>>;
  /** Users for SCRAM, as `kafka-storage.sh format --add-scram` takes them. */
  readonly scram?: readonly string[];
  /** Use the JVM's production collector and compiler, not those with the fastest start. */
  readonly forLoad: boolean;
}

/** A Kafka process that can be killed and started again on the same port and files. */
export interface KafkaProcess {
  readonly id: number;
  readonly address: string;
  /** Id of the current process, or of the last one. */
  readonly pid: number;
  kill9(): Promise<void>;
  /** Ends it in order, so that its leadership moves to others. Idempotent. */
  shutDown(): Promise<void>;
  /** Starts it after it ended. Resolves when it listens. */
  start(): Promise<void>;
  /** Stops it without ending it, like a machine that hangs, until `resume`. */
  pause(): void;
  resume(): void;
  /** Resumes it, or starts it if it ended. */
  ensureRunning(): Promise<void>;
}

const POM = join(ROOT, 'test/engines/kafka/pom.xml');
const FETCH_MS = 10 * 60_000;
const START_MS = 360_000;
const STOP_MS = 20_000;
/** Halves the processor time of a start, and is slower under full load. */
const QUICK_START = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] as const;
const run = promisify(execFile);

export const kafkaVersion = (): string =>
  /<artifactId>kafka_[\d.]+<\/artifactId>\s*<version>([\d.]+)</.exec(readFileSync(POM, 'utf8'))?.[1] ?? 'unknown';

/** Formats the node's folder if it is new, and starts it. Resolves when it listens. */
export const startKafkaProcess = async (node: KafkaNode): Promise<KafkaProcess> => {
  const { id, dir, port, heapMb, forLoad, scram = [] } = node;
  const jars = await kafkaJars();
  mkdirSync(dir, { recursive: true });
  const command = ['-Xms64m', `-Xmx${heapMb}m`, ...(forLoad ? [] : QUICK_START), '-cp', join(jars, '*')];
  const properties = join(dir, 'server.properties');
  if (!existsSync(properties)) {
    writeFileSync(properties, propertiesOf(node));
    const cluster = ['--cluster-id', 'c2x1aWNlLXRlc3QtMDAwMA', '--config', properties];
    const users = scram.flatMap((user) => ['--add-scram', user]);
    await run('java', [...command, 'kafka.tools.StorageTool', 'format', ...cluster, ...users]);
  }
  const launch = () => started([...command, 'kafka.Kafka', properties], join(dir, 'server.log'), port);
  let child = await launch();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    // A broker without another one for its partitions may be slow.
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await gone;
    clearTimeout(late);
  };
  return {
    id,
    address: `127.0.0.1:${port}`,
    get pid() {
      return child.pid ?? -1;
    },
    kill9: () => end('SIGKILL'),
    shutDown: () => end('SIGTERM'),
    start: async () => {
      child = await launch();
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    ensureRunning: async () => {
      child.kill('SIGCONT');
      if (child.exitCode !== null || child.signalCode !== null) child = await launch();
    },
  };
};

let jarsHere: Promise<string> | undefined;

/** The folder of the jars, which Maven fetches unless they are in the cache. Brokers that start together fetch once. */
export const kafkaJars = (): Promise<string> => (jarsHere ??= findJars());

const findJars = async (): Promise<string> => {
  const cache = join(process.env.SLUICE_ENGINES_CACHE ?? join(homedir(), '.cache', 'sluice-engines'), 'kafka');
  const jars = join(cache, 'jars');
  const isThere = (): boolean => existsSync(join(jars, `kafka_2.13-${kafkaVersion()}.jar`));
  if (isThere()) return jars;
  mkdirSync(cache, { recursive: true });
  // Fetches into a separate folder, then renames once. So two concurrent fetches never see each other's partial files.
  const build = mkdtempSync(join(cache, 'fetching-'));
  try {
    const output = `-DoutputDirectory=${join(build, 'jars')}`;
    await run('mvn', ['-q', '-B', '-f', POM, 'dependency:copy-dependencies', output], { timeout: FETCH_MS });
    // Another process may have come first, and runs on them.
    if (isThere()) return jars;
    removeDir(jars);
    renameSync(join(build, 'jars'), jars);
  } catch (error) {
    throw new Error(`the jars of Kafka ${kafkaVersion()} could not be fetched with Maven: ${String(error)}`, {
      cause: error,
    });
  } finally {
    removeDir(build);
  }
  return jars;
};

const propertiesOf = ({ id, dir, port, controllerPort, voters, settings }: KafkaNode): string =>
  Object.entries({
    'process.roles': 'broker,controller',
    'node.id': String(id),
    'controller.quorum.voters': voters,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': join(dir, 'data'),
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '8',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'auto.create.topics.enable': 'false',
    'group.initial.rebalance.delay.ms': '0',
    // One copy is durable only if each append waits for the disk.
    'log.flush.interval.messages': '1',
    ...settings,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

/** Resolves when the port accepts connections. */
const started = async (args: readonly string[], log: string, port: number): Promise<ChildProcess> => {
  const child = spawn('java', [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  endsWithUs(child);
  const output = createWriteStream(log, { flags: 'a' });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(output, { end: false });
    stream.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
    });
  }
  child.once('close', () => output.end());
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const deadline = Date.now() + START_MS;
  while (!(await Promise.race([listens(port), failed]))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`Kafka ended before it listened: ${said}`);
    if (Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`Kafka did not listen on port ${port} within ${START_MS} ms: ${said}`);
    }
    await sleep(50);
  }
  return child;
};

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const done = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', done(true));
    socket.once('error', done(false));
  });
