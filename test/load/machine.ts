import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, tmpdir, type } from 'node:os';
import { promisify } from 'node:util';
import { ROOT } from '#test/harness/paths.js';

export interface Machine {
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly os: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** File system of the data folder. An fsync on tmpfs is free, so figures from there do not count. */
  readonly filesystem: string;
  /** Load average of the last minute before the start. Above 0.5 the machine was not idle. */
  readonly loadBefore: number;
}

const run = promisify(execFile);

const outputOf = async (command: string, args: readonly string[]): Promise<string> => {
  try {
    return (await run(command, [...args], { cwd: ROOT })).stdout.trim();
  } catch (error) {
    return `unknown (${error instanceof Error ? error.message.split('\n')[0] : String(error)})`;
  }
};

export const describeMachine = async (): Promise<Machine> => ({
  date: new Date().toISOString(),
  commit: await outputOf('git', ['rev-parse', '--short', 'HEAD']),
  node: process.version,
  os: `${type()} ${release()}`,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  filesystem: await outputOf('stat', ['-f', '-c', '%T', tmpdir()]),
  loadBefore: Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]),
});
