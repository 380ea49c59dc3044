import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { treeUsage } from './process-tree.js';

/** Current figures of a broker. */
export interface BrokerFigures {
  readonly rssMb: number;
  /** Java heap after a full collection; null where the JDK's tools are missing. */
  readonly liveHeapMb: number | null;
  readonly openFiles: number;
  /** Number of memory regions. Each index file is one. */
  readonly maps: number;
  /** Space on the disk, without the holes of preallocated index files. */
  readonly diskMb: number;
}

const run = promisify(execFile);

export const brokerFigures = async (pid: number, dir: string): Promise<BrokerFigures> => ({
  liveHeapMb: await liveHeapMb(pid),
  rssMb: treeUsage(pid).mainRssMb,
  openFiles: readdirSync(`/proc/${pid}/fd`).length,
  maps: readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n').length - 1,
  diskMb: Number((await run('du', ['-sk', dir])).stdout.split('\t')[0]) / 1_024,
});

const liveHeapMb = async (pid: number): Promise<number | null> => {
  try {
    await run('jcmd', [String(pid), 'GC.run'], { timeout: 60_000 });
    const { stdout } = await run('jcmd', [String(pid), 'GC.heap_info'], { timeout: 60_000 });
    return Number(/used (\d+)K/.exec(stdout)?.[1] ?? NaN) / 1_024;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
};

/** Number of files that the process may have open. */
export const openFilesLimit = (pid: number): number =>
  Number(/^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1] ?? NaN);
