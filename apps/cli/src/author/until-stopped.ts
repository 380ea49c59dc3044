import { INTERRUPTED } from './print-failure.js';

/** Comes with Ctrl-C and the other ways to end a program. A second one ends it at once. */
export const untilStopped = (): AbortController => {
  const controller = new AbortController();
  process.removeAllListeners('SIGINT');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(INTERRUPTED);
      controller.abort();
    });
  return controller;
};
