import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE_MS = 10_000;

/** Resolves once `holds` is true. Rejects, naming what was awaited, when it does not come to that. */
export const eventually = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
  const until = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > until) throw new Error(`waited ${PATIENCE_MS} ms in vain: ${what}`);
    await pause(2);
  }
};
