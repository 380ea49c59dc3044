import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { types } from 'node:util';
import { request } from 'undici';
import { endsWithUs } from './ends-with-us.js';
import { ROOT } from './paths.js';
import { removeDir, tempDir } from './temp-dir.js';

export interface ServerOptions {
  /** The app to run. Default: standalone. */
  readonly app?: string;
  /** Settings in addition to the harness's own. undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: a new temp folder, removed by `close`. */
  readonly dataDir?: string;
  readonly readyTimeoutMs?: number;
  /** Puts the data directory on a disk of this size: a tmpfs visible to this process only. Needs root. */
  readonly diskMb?: number;
  /**
   * Interval between checks of /readyz during the start. Default: 5, for exact figures. Tests on other servers use a
   * longer one.
   */
  readonly pollMs?: number;
}

/** Flags of Node as in `npm start`, so that tests and measurements use the users' configuration. */
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };
const FLAGS = scripts.start
  .replace(/\$\{\w+:-(\d+)\}/g, (_, fallback: string) => fallback)
  .split(' ')
  .slice(1, -1);
const OUTPUT_KEPT = 64_000;

/** The tested installation, in one process or several. */
export interface TestServer {
  readonly apiKey: string;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Data directory of a process that has files of the installation. */
  readonly dataDir: string;
  /** Last output of the processes. */
  readonly lastOutput: string;
  /** Settings for the command line, so that it finds the same installation. */
  readonly settings: Readonly<Record<string, string>>;
  start(): Promise<unknown>;
  /** Sends SIGTERM. Resolves with the exit code, the worst one of several processes. */
  stop(): Promise<number | null>;
  kill9(): Promise<void>;
  restart(): Promise<unknown>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/** A server process on a data directory. It can be stopped or killed and started again on the same directory. */
export class Server implements TestServer {
  readonly apiKey = `test_${randomBytes(16).toString('hex')}`;
  readonly dataDir: string;
  /** Its TMPDIR, so that leftovers are noticed, and removed even after a kill. */
  private readonly scratch = tempDir('tmp');
  private readonly ownsDir: boolean;
  private killed = false;
  private readonly env: Record<string, string>;
  private readonly app: string;
  private readonly main: string;
  private readonly readyTimeoutMs: number;
  private readonly pollMs: number;
  private readonly diskMb: number | undefined;
  private child: ChildProcess | undefined;
  private output = '';
  private address: { url: string; port: number } | undefined;
  private ready = false;
  /** Time from spawn to the first 200 of /readyz at the latest start. */
  readyMs = 0;
  /** Lines of output over all starts. */
  outputLines = 0;

  constructor(options: ServerOptions = {}) {
    this.app = options.app ?? 'standalone';
    this.main = join(ROOT, 'dist/apps', this.app, 'src/main.js');
    this.ownsDir = options.dataDir === undefined;
    this.dataDir = options.dataDir ?? tempDir('data');
    this.readyTimeoutMs = options.readyTimeoutMs ?? 30_000;
    this.pollMs = options.pollMs ?? 5;
    this.diskMb = options.diskMb;
    this.env = {
      PATH: process.env.PATH ?? '',
      HOME: this.dataDir,
      TMPDIR: this.scratch,
      SLUICE_PORT: '0',
      SLUICE_HOST: '127.0.0.1',
      SLUICE_DATA_DIR: this.dataDir,
      SLUICE_API_KEY: this.apiKey,
      SLUICE_EGRESS_ALLOW: '127.0.0.1/32',
      SLUICE_ENDPOINT_RATE: '0',
      SLUICE_API_RATE: '0',
      ...definedOnly(process.env.SLUICE_ISOLATION, 'SLUICE_ISOLATION'),
    };
    for (const [name, value] of Object.entries(options.env ?? {})) {
      if (value === undefined) delete this.env[name];
      else this.env[name] = value;
    }
  }

  /** `http://127.0.0.1:<port>` */
  get url(): string {
    if (!this.address) throw new Error('the server is not running');
    return this.address.url;
  }

  /** True while it is started and ready, and neither stopped nor killed by the test. */
  get isRunning(): boolean {
    return this.ready && this.child !== undefined;
  }

  /** True when it was started and ended on its own. `restart` starts it again. */
  get hasEnded(): boolean {
    return this.child !== undefined && (this.child.exitCode !== null || this.child.signalCode !== null);
  }

  get pid(): number {
    const pid = this.child?.pid;
    if (pid === undefined) throw new Error('the server is not running');
    return pid;
  }

  /** Last 64 KB of the processes' output over all starts. */
  get lastOutput(): string {
    return this.output;
  }

  get settings(): Readonly<Record<string, string>> {
    return this.env;
  }

  /** Changes a setting for the next start. */
  setting(name: string, value: string): void {
    this.env[name] = value;
  }

  /** Spawns without waiting for readiness, so that tests can kill it during its start. */
  launch(): ChildProcess {
    if (!existsSync(this.main)) throw new Error(`${this.main} is missing: run npm run build`);
    if (this.child) throw new Error('the server is running already');
    mkdirSync(this.dataDir, { recursive: true });
    const [command = '', ...args] = [...this.onDisk(), process.execPath, ...FLAGS, this.main];
    const child = spawn(command, args, {
      cwd: this.dataDir,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer): void => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) this.outputLines++;
      this.output = (this.output + chunk.toString()).slice(-OUTPUT_KEPT);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    endsWithUs(child);
    this.child = child;
    this.address = undefined;
    this.ready = false;
    return child;
  }

  /** Resolves with the URL after `launch`, because it listens before it is ready. */
  async listening(): Promise<string> {
    const child = this.child;
    for (;;) {
      this.address ??= this.readAddress(child?.pid);
      if (this.address) return this.address.url;
      if (!child || child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`the server ended before it listened:\n${this.output}`);
      }
      await pause(5);
    }
  }

  async start(): Promise<this> {
    const startedAt = performance.now();
    const child = this.launch();
    for (;;) {
      this.address ??= this.readAddress(child.pid);
      if (this.address && (await isReady(this.address.url))) break;
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`the server ended (${child.exitCode ?? child.signalCode}) at start:\n${this.output}`);
      }
      if (performance.now() - startedAt > this.readyTimeoutMs) {
        await this.kill9();
        throw new Error(`the server was not ready after ${this.readyTimeoutMs} ms:\n${this.output}`);
      }
      await pause(this.address ? this.pollMs : 5);
    }
    this.ready = true;
    this.readyMs = performance.now() - startedAt;
    return this;
  }

  /**
   * Sends SIGTERM and resolves with the exit code. After 25 s, longer than its own limit, it sends SIGKILL and rejects.
   */
  async stop(): Promise<number | null> {
    const child = this.child;
    if (!child) return null;
    this.child = undefined;
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    if (!ended) return child.exitCode;
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 25_000);
    await ended;
    clearTimeout(late);
    if (child.signalCode === 'SIGKILL') throw new Error(`the server did not end on SIGTERM:\n${this.output}`);
    return child.exitCode;
  }

  /** Nothing of the process runs after this. */
  async kill9(): Promise<void> {
    const child = this.child;
    if (!child) return;
    this.child = undefined;
    this.killed = true;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async restart(): Promise<this> {
    await this.stop();
    return this.start();
  }

  /** Stops it and removes its data. Rejects when temporary files remain, unless it was killed. */
  async close(): Promise<void> {
    let left: string[] = [];
    try {
      await this.stop();
      left = this.killed ? [] : readdirSync(this.scratch);
    } finally {
      removeDir(this.scratch);
      if (this.ownsDir) removeDir(this.dataDir);
    }
    if (left.length > 0) throw new Error(`the server left temporary files behind: ${left.join(', ')}`);
  }

  /** Path of the data directory for this process. */
  seenDataDir(pid = this.pid): string {
    return this.diskMb === undefined ? this.dataDir : `/proc/${pid}/root${this.dataDir}`;
  }

  private onDisk(): readonly string[] {
    if (this.diskMb === undefined) return [];
    const mounted = `mount -t tmpfs -o size=${this.diskMb}m,mode=700 tmpfs "$0" && cd "$0" && exec "$@"`;
    return ['unshare', '--mount', 'sh', '-c', mounted, this.dataDir];
  }

  /** The server was asked for port 0, so it writes its port and pid to `server.json`. */
  private readAddress(pid: number | undefined): { url: string; port: number } | undefined {
    const file = join(pid === undefined ? this.dataDir : this.seenDataDir(pid), 'server.json');
    if (!existsSync(file)) return undefined;
    const text = readFileSync(file, 'utf8');
    const told = parsed(text) as { port: number; pid: number } | undefined;
    return told?.pid === pid && told ? { url: `http://127.0.0.1:${told.port}`, port: told.port } : undefined;
  }
}

export const startServer = (options?: ServerOptions): Promise<Server> => new Server(options).start();

const definedOnly = (value: string | undefined, name: string): Record<string, string> =>
  value === undefined ? {} : { [name]: value };

/** undefined while the file is being written. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

const isReady = async (url: string): Promise<boolean> => {
  try {
    const reply = await request(`${url}/readyz`, { headersTimeout: 2_000, reset: true });
    await reply.body.dump();
    return reply.statusCode === 200;
  } catch (error) {
    if (types.isNativeError(error)) return false;
    throw error;
  }
};
