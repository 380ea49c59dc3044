import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CLI } from './command-line.js';
import { endsWithUs } from './ends-with-us.js';
import { eventually } from './wait.js';

export type DevLine = Readonly<Record<string, unknown>> & { readonly type: string };

/** A session of `sluice dev --json`. */
export class DevSession {
  readonly lines: DevLine[] = [];
  stderr = '';
  private readonly child: ChildProcess;

  /** @param more variables; without `SLUICE_API_KEY` the session has a server of its own. */
  constructor(dir: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const isolation =
      process.env.SLUICE_ISOLATION === undefined ? {} : { SLUICE_ISOLATION: process.env.SLUICE_ISOLATION };
    const env = { PATH: process.env.PATH, HOME: dir, ...isolation, ...more };
    const child = spawn(process.execPath, [CLI, 'dev', ...args, '--json'], {
      env,
      cwd: dir,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    endsWithUs(child);
    createInterface(child.stdout).on('line', (line) => this.lines.push(JSON.parse(line) as DevLine));
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  of(type: string): readonly DevLine[] {
    return this.lines.filter((line) => line.type === type);
  }

  /** The line of this type with this number, once it is there. */
  next(type: string, count = 1): Promise<DevLine> {
    return this.until(`${count} ${type}`, () => this.of(type)[count - 1]);
  }

  untilTold(text: RegExp): Promise<string> {
    return this.until(String(text), () => text.exec(this.stderr)?.[0]);
  }

  end(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    const ended = this.ended();
    this.child.kill(signal);
    return ended;
  }

  /** The status with which a session ended that nobody stopped. */
  async ended(): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const [status] = (await once(this.child, 'exit')) as [number | null];
    return status;
  }

  private until<T>(what: string, found: () => T | undefined): Promise<T> {
    return eventually(
      what,
      () => {
        const result = found();
        if (result === undefined && this.child.exitCode !== null)
          throw new Error(`it ended with ${this.child.exitCode}: ${this.stderr}`);
        return Promise.resolve(result);
      },
      60_000,
    );
  }
}
