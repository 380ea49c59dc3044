import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { removeNamespace } from '#test/engines/namespace.js';
import { FrontProxy } from './front-proxy.js';
import { Server, type ServerOptions, type TestServer } from './server.js';
import { removeDir, tempDir } from './temp-dir.js';

export const ROLES = [
  'command-api',
  'query-api',
  'ingress',
  'projector',
  'runner',
  'router',
  'webhook-worker',
  'scheduler',
] as const;
export type RoleName = (typeof ROLES)[number];

/** Addresses of the servers. */
export interface EngineAddresses {
  /** host:port pairs, separated by commas. */
  readonly kafka: string;
  readonly mongo: string;
  readonly eventStore: string;
}

export interface DeploymentOptions extends Pick<ServerOptions, 'env'> {
  /** Default: the servers given by the environment (`npm run test:engines`). */
  readonly engines?: EngineAddresses;
  /** Number of processes per role. Default: one each. */
  readonly copies?: Partial<Readonly<Record<RoleName, number>>>;
}

const engine = (name: string): string => {
  const given = process.env[name];
  if (given === undefined || given === '') throw new Error(`${name} is not set: run npm run test:engines`);
  return given;
};

export const givenEngines = (): EngineAddresses => ({
  kafka: engine('SLUICE_TEST_KAFKA'),
  mongo: engine('SLUICE_TEST_MONGO'),
  eventStore: engine('SLUICE_TEST_EVENTSTORE'),
});

/** Runs every role as its own process on the distributed engines, behind one URL and in its own namespace. */
export class Deployment implements TestServer {
  readonly apiKey = `test_${randomBytes(16).toString('hex')}`;
  readonly dataDir = tempDir('roles');
  /** Processes by role, in order of their number. */
  readonly processes: Readonly<Record<RoleName, Server[]>>;
  private readonly namespace = `t${randomBytes(6).toString('hex')}`;
  private readonly kafka: string;
  private readonly mongo: string;
  /** Settings of every process. */
  readonly common: Readonly<Record<string, string | undefined>>;
  private proxy: FrontProxy | undefined;
  /** Whether the proxy sends requests to a process that runs, as a probe of its readiness would decide. Default: yes. */
  serves: (server: Server) => boolean = () => true;

  constructor({ env, copies = {}, engines = givenEngines() }: DeploymentOptions = {}) {
    this.kafka = engines.kafka;
    this.mongo = mongoUrlOf(engines.mongo, this.namespace);
    this.common = {
      SLUICE_ENGINE: 'distributed',
      SLUICE_KAFKA_BROKERS: this.kafka,
      SLUICE_MONGO_URL: this.mongo,
      SLUICE_EVENTSTORE_URL: engines.eventStore,
      SLUICE_PREFIX: this.namespace,
      SLUICE_SECRET_KEY: randomBytes(32).toString('hex'),
      SLUICE_API_KEY: this.apiKey,
      ...env,
    };
    this.processes = Object.fromEntries(
      ROLES.map((role) => [role, Array.from({ length: copies[role] ?? 1 }, (_, n) => this.make(role, n))]),
    ) as Record<RoleName, Server[]>;
  }

  get url(): string {
    if (!this.proxy) throw new Error('the deployment is not running');
    return this.proxy.url;
  }

  get all(): readonly Server[] {
    return ROLES.flatMap((role) => this.processes[role]);
  }

  /** Role and number of a process, such as `runner 2`. */
  nameOf(server: Server): string {
    const role = ROLES.find((each) => this.processes[each].includes(server));
    return role === undefined ? 'unknown' : `${role} ${this.processes[role].indexOf(server) + 1}`;
  }

  get lastOutput(): string {
    return this.all.map(({ lastOutput }) => lastOutput).join('');
  }

  async start(): Promise<this> {
    this.proxy ??= await FrontProxy.start({
      commands: () => this.running('command-api'),
      queries: () => this.running('query-api'),
      ingress: () => this.running('ingress'),
    });
    const { url } = this.proxy;
    for (const server of this.all) server.setting('SLUICE_PUBLIC_URL', url);
    await Promise.all(this.all.map((server) => server.start()));
    return this;
  }

  /** Adds one more process of a role without starting it. */
  add(role: RoleName): Server {
    const server = this.make(role, this.processes[role].length);
    server.setting('SLUICE_PUBLIC_URL', this.url);
    this.processes[role].push(server);
    return server;
  }

  get settings(): Readonly<Record<string, string>> {
    return { ...this.processes['command-api'][0]?.settings, SLUICE_DATA_DIR: join(this.dataDir, 'cli') };
  }

  async stop(): Promise<number | null> {
    const codes = await Promise.all(this.all.map((server) => server.stop()));
    return codes.find((code) => code !== 0) ?? 0;
  }

  async kill9(): Promise<void> {
    await Promise.all(this.all.map((server) => server.kill9()));
  }

  async restart(): Promise<this> {
    await this.stop();
    return this.start();
  }

  async close(): Promise<void> {
    try {
      const ended = await Promise.allSettled(this.all.map((server) => server.close()));
      const failed = ended.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    } finally {
      await this.proxy?.close();
      await removeNamespace({ kafka: this.kafka, prefix: `${this.namespace}.`, mongo: this.mongo });
      removeDir(this.dataDir);
    }
  }

  private make(app: RoleName, number: number): Server {
    const dataDir = join(this.dataDir, `${app}-${number}`);
    return new Server({ app, dataDir, env: this.common, readyTimeoutMs: 180_000, pollMs: 50 });
  }

  private running(role: RoleName): readonly string[] {
    return this.processes[role].filter((server) => server.isRunning && this.serves(server)).map(({ url }) => url);
  }
}

const mongoUrlOf = (url: string, database: string): string => {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.href;
};
