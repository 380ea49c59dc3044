import { pause } from '#libs/async/pause.js';

const PATIENCE_MS = 10_000;

/** Resolves once `holds` is true. Rejects at the time-out, naming what was awaited. */
export const eventually = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
  const until = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > until) throw new Error(`waited ${PATIENCE_MS} ms in vain: ${what}`);
    await pause(2);
  }
};
