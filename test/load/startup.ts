import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { treeUsage } from './process-tree.js';

export interface StartFigures {
  /** Time from `npm start` to the first 200 of /readyz, on an empty data directory. */
  readonly readyMs: number;
  readonly idleRssMb: number;
}

const READY_TIMEOUT_MS = 60_000;

/** Runs `npm start` as a user types it. The time includes npm's own start, and the RSS excludes its memory. */
export const measureStart = async (idleMs: number): Promise<StartFigures> => {
  const dir = tempDir('start');
  const startedAt = performance.now();
  const npm = spawn('npm', ['start', '--silent'], {
    cwd: ROOT,
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH ?? '',
      HOME: dir,
      SLUICE_PORT: '0',
      SLUICE_DATA_DIR: dir,
      SLUICE_API_KEY: `bench_${randomBytes(16).toString('hex')}`,
    },
  });
  const ended = once(npm, 'exit');
  let pid = 0;
  try {
    const server = await untilReady(dir, startedAt);
    pid = server.pid;
    const readyMs = performance.now() - startedAt;
    await pause(idleMs);
    const { mainRssMb, childrenRssMb } = treeUsage(pid);
    return { readyMs, idleRssMb: mainRssMb + childrenRssMb };
  } finally {
    if (pid > 0) process.kill(pid, 'SIGTERM');
    else npm.kill('SIGTERM');
    await ended;
    removeDir(dir);
  }
};

const untilReady = async (dir: string, startedAt: number): Promise<{ pid: number; port: number }> => {
  const file = join(dir, 'server.json');
  while (performance.now() - startedAt < READY_TIMEOUT_MS) {
    await pause(5);
    if (!existsSync(file)) continue;
    const server = JSON.parse(readFileSync(file, 'utf8') || '{}') as { pid?: number; port?: number };
    if (server.pid === undefined || server.port === undefined) continue;
    const reply = await request(`http://127.0.0.1:${server.port}/readyz`, { reset: true });
    await reply.body.dump();
    if (reply.statusCode === 200) return { pid: server.pid, port: server.port };
  }
  throw new Error(`npm start was not ready after ${READY_TIMEOUT_MS} ms`);
};
