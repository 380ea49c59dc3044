import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { ROOT } from '#test/harness/paths.js';

/** Grace period before a kill. */
const GRACE_MS = 15_000;

/** True when a program is in PATH and runs. */
export const has = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;

export const outputOf = (program: string, ...args: readonly string[]): string =>
  spawnSync(program, args, { encoding: 'utf8' }).stdout;

/** A signal ended the run. Running work is cleaned up, and no more starts. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted');
    this.name = 'Interrupted';
  }
}

/** Runs one command at a time. A signal to this process ends the command and all its descendants. */
export class Commands {
  private child: ChildProcess | undefined;
  private stopped = false;

  /** Call once. */
  listen(): void {
    const stop = (): void => {
      this.stopped = true;
      if (this.child) endGroup(this.child);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
    process.once('exit', () => this.child && signal(this.child, 'SIGKILL'));
  }

  get interrupted(): boolean {
    return this.stopped;
  }

  throwIfInterrupted(): void {
    if (this.stopped) throw new Interrupted();
  }

  /**
   * Sends the command's output to this process's standard error. Resolves with the exit code; rejects with Interrupted.
   */
  async run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
    this.throwIfInterrupted();
    // A separate process group, so that its descendants can be ended with it.
    const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 2, 2], detached: true });
    this.child = child;
    try {
      const [code] = (await once(child, 'exit')) as [number | null];
      this.throwIfInterrupted();
      return code ?? 1;
    } finally {
      this.child = undefined;
    }
  }
}

const endGroup = (child: ChildProcess): void => {
  signal(child, 'SIGTERM');
  const late = setTimeout(() => signal(child, 'SIGKILL'), GRACE_MS);
  child.once('exit', () => clearTimeout(late));
};

const signal = (child: ChildProcess, name: NodeJS.Signals): void => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-child.pid, name);
};
