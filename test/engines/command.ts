import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { ROOT } from '#test/harness/paths.js';

/** Before it is killed. */
const GRACE_MS = 15_000;

/** Whether a program is in PATH and runs. */
export const has = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;

export const outputOf = (program: string, ...args: readonly string[]): string =>
  spawnSync(program, args, { encoding: 'utf8' }).stdout;

/** The run was ended by a signal: what is under way is cleaned up, and no more is begun. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted');
    this.name = 'Interrupted';
  }
}

/** Runs one command at a time; a signal to this process ends it with everything that it has started. */
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

  /** Its output goes to this process's standard error. Resolves with the exit code; rejects with Interrupted. */
  async run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
    this.throwIfInterrupted();
    // A group of its own, so that what it starts can be ended with it.
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
