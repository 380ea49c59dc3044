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

/** Runs commands. A signal to this process ends them and all their descendants. */
export class Commands {
  private readonly children = new Set<ChildProcess>();
  private stopped = false;

  /** Call once. */
  listen(): void {
    const stop = (): void => {
      this.stopped = true;
      for (const child of this.children) endGroup(child);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
    process.once('exit', () => {
      for (const child of this.children) signal(child, 'SIGKILL');
    });
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
    this.children.add(child);
    try {
      const [code] = (await once(child, 'exit')) as [number | null];
      this.throwIfInterrupted();
      return code ?? 1;
    } finally {
      this.children.delete(child);
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
