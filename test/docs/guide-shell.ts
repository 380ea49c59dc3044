import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '#test/engines/free-port.js';
import { accepts } from '#test/harness/accepts.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { outputPattern, type GuideBlock } from './guide.js';

/** Time for one block, and for a server to listen. */
const PATIENCE_MS = 60_000;

interface Terminal {
  readonly child: ChildProcess;
  output: string;
}

const open = (cwd: string, env: NodeJS.ProcessEnv, args: readonly string[]): Terminal => {
  const child = spawn('bash', args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const terminal: Terminal = { child, output: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (terminal.output += chunk.toString()));
  return terminal;
};

/** Signals a terminal and everything started in it. */
const signal = ({ child }: Terminal, name: NodeJS.Signals): void => {
  try {
    process.kill(-(child.pid ?? 0), name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** A receiver answers anything. Sluice listens before it is ready, and answers 503 until then. */
const isReady = async (port: number): Promise<boolean> => {
  if (!(await accepts(port))) return false;
  const { status } = await fetch(`http://127.0.0.1:${port}/readyz`).catch((error: Error) => ({
    status: answersInAnotherProtocol(error) ? 0 : 503,
  }));
  return status !== 503;
};

/** A mail server greets, which is no HTTP. */
const answersInAnotherProtocol = ({ cause }: Error): boolean =>
  String((cause as NodeJS.ErrnoException | undefined)?.code).startsWith('HPE_');

const endOf = (child: ChildProcess): Promise<unknown> =>
  child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();

/**
 * Runs the commands of a guide like its reader, in a folder that looks like a checkout. Ports and `/tmp` of the guide
 * become free ports and a folder of their own, so that guides do not disturb each other.
 */
export class GuideShell {
  readonly folder = tempDir('guide');
  private readonly terminals = new Map<number, Terminal>();
  private readonly shell: Terminal;
  private readonly env: NodeJS.ProcessEnv;
  private blocks = 0;
  private lastOutput = '';
  private readonly onExit = (): void => this.terminals.forEach((terminal) => signal(terminal, 'SIGKILL'));

  private constructor(private readonly ports: ReadonlyMap<number, number>) {
    for (const name of readdirSync(ROOT)) {
      const [from, to] = [join(ROOT, name), join(this.folder, name)];
      // What is deployed may not lie behind a link that leads out of the project.
      if (name === 'examples') cpSync(from, to, { recursive: true });
      else if (!name.startsWith('.')) symlinkSync(from, to);
    }
    const scratch = join(this.folder, '.tmp');
    mkdirSync(scratch);
    // No guide may wait for an address that never answers, and npm must not ask the network for a newer npm.
    writeFileSync(join(this.folder, '.curlrc'), 'max-time = 30\n');
    const { PATH = '', SLUICE_ISOLATION } = process.env;
    this.env = {
      PATH,
      HOME: this.folder,
      TMPDIR: scratch,
      npm_config_update_notifier: 'false',
      SLUICE_PORT: String(ports.get(3000) ?? 0),
      PYTHONUNBUFFERED: '1',
    };
    if (SLUICE_ISOLATION !== undefined) this.env['SLUICE_ISOLATION'] = SLUICE_ISOLATION;
    this.shell = open(this.folder, this.env, ['-euo', 'pipefail']);
    process.once('exit', this.onExit);
  }

  static async for(blocks: readonly GuideBlock[]): Promise<GuideShell> {
    const named = [...new Set(blocks.flatMap(({ background }) => background ?? []))];
    const free = await freePorts(named.length);
    return new GuideShell(new Map(named.map((port, n) => [port, free[n] as number])));
  }

  async do(block: GuideBlock, expected?: string): Promise<void> {
    if (block.stop !== undefined) return this.stop(block.stop);
    if (block.file !== undefined) return this.write(block.file, block.text);
    if (block.background !== undefined) return this.start(block.background, block.text);
    const until = Date.now() + PATIENCE_MS;
    do await this.run(block, expected);
    while (block.retry && expected !== undefined && !this.shows(expected) && Date.now() < until);
  }

  /** The output of the last block, or of the terminal of a port, once it is as shown or has had its time. */
  async outputFor(shown: string, port?: number): Promise<string> {
    const terminal = port === undefined ? undefined : this.terminal(port);
    const until = Date.now() + PATIENCE_MS / 2;
    while (terminal && !this.patternOf(shown).test(terminal.output) && Date.now() < until) await pause(20);
    return terminal?.output ?? this.lastOutput;
  }

  patternOf(shown: string): RegExp {
    return outputPattern(this.adapted(shown));
  }

  async close(): Promise<void> {
    const all = [this.shell, ...this.terminals.values()];
    for (const terminal of all) signal(terminal, 'SIGKILL');
    await Promise.all(all.map(({ child }) => endOf(child)));
    process.off('exit', this.onExit);
    removeDir(this.folder);
  }

  private shows(expected: string): boolean {
    return this.patternOf(expected).test(this.lastOutput);
  }

  private adapted(text: string): string {
    const moved = [...this.ports].reduce(
      (sofar, [shown, real]) => sofar.replaceAll(new RegExp(`\\b${shown}\\b`, 'g'), String(real)),
      text,
    );
    return moved.replaceAll('/tmp/', `${join(this.folder, '.tmp')}/`);
  }

  private terminal(port: number): Terminal {
    const terminal = this.terminals.get(port);
    if (!terminal) throw new Error(`the guide started nothing on port ${port}`);
    return terminal;
  }

  /** A path of the system, such as /etc, is made below the folder. */
  private write(path: string, text: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, this.adapted(text));
  }

  private async start(port: number, text: string): Promise<void> {
    const terminal = open(this.folder, this.env, ['-c', this.adapted(text)]);
    this.terminals.set(port, terminal);
    const until = Date.now() + PATIENCE_MS;
    while (!(await isReady(this.ports.get(port) ?? port))) {
      if (terminal.child.exitCode !== null || Date.now() > until)
        throw new Error(`nothing listens on port ${port}:\n${terminal.output}`);
      await pause(20);
    }
  }

  private async stop(port: number): Promise<void> {
    const terminal = this.terminal(port);
    signal(terminal, 'SIGINT');
    await Promise.race([endOf(terminal.child), pause(PATIENCE_MS, undefined, { ref: false })]);
    const until = Date.now() + PATIENCE_MS;
    while ((await accepts(this.ports.get(port) ?? port)) && Date.now() < until) await pause(20);
    this.terminals.delete(port);
  }

  private async run({ text, line }: GuideBlock, expected?: string): Promise<void> {
    const { child } = this.shell;
    const n = ++this.blocks;
    const script = join(this.folder, '.tmp', `block-${n}.sh`);
    writeFileSync(script, this.adapted(text));
    this.shell.output = '';
    child.stdin?.write(`source ${script} </dev/null; echo; echo done-${n}\n`);
    const until = Date.now() + PATIENCE_MS;
    while (!this.shell.output.endsWith(`\ndone-${n}\n`)) {
      if (child.exitCode !== null || Date.now() > until)
        throw new Error(`the commands of line ${line} failed (${child.exitCode ?? 'no end'}):\n${this.shell.output}`);
      await pause(10);
    }
    this.lastOutput = this.shell.output.slice(0, -`\ndone-${n}\n`.length);
    // curl succeeds with any status.
    if (this.lastOutput.includes('"error":"') && !expected?.includes('"error":'))
      throw new Error(`a command of line ${line} was refused:\n${this.lastOutput}`);
  }
}
