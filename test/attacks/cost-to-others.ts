import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';

/** Delay for others that a slow machine may cause, and that an unbounded attack exceeds. */
export const DELAY_MS = 2_000;

/** Memory of a process, in MB. */
export const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/**
 * Measures the most memory above that of the start, and the longest delay of another client's repeated request, while
 * the attack runs and for `ms` afterwards. By default the other client requests the server's health.
 */
export const measured = async (
  { pid, url }: { readonly pid: number; readonly url: string },
  attack: () => Promise<unknown>,
  ms: number,
  other: () => Promise<unknown> = () => fetch(`${url}/healthz`).then((reply) => reply.text()),
): Promise<{ grownMb: number; delayMs: number }> => {
  const before = rssMb(pid);
  let [grownMb, delayMs, running] = [0, 0, true];
  const look = setInterval(() => (grownMb = Math.max(grownMb, rssMb(pid) - before)), 20);
  const others = (async () => {
    while (running) {
      const startedAt = performance.now();
      await other();
      delayMs = Math.max(delayMs, performance.now() - startedAt);
      await pause(20);
    }
  })();
  try {
    await attack();
    await pause(ms);
    running = false;
    await others;
  } finally {
    clearInterval(look);
  }
  if (process.env.FIGURES)
    process.stderr.write(
      `${expect.getState().currentTestName}: ${Math.round(grownMb)} MB, ${Math.round(delayMs)} ms\n`,
    );
  return { grownMb, delayMs };
};
