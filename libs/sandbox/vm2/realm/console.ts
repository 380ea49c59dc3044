import { now } from './bridge-end.js';
import { format, inspect } from './inspect.js';

/** Turns console.* into log lines of the run that wrote them, as in child/attribution.ts. */
export const captureConsole = (log: (kind: string, text: string) => void): void => {
  const counts = new Map<string, number>();
  const started = new Map<string, number>();
  const write =
    (kind: string) =>
    (...args: unknown[]): void =>
      log(`console.${kind}`, format(...args));
  const elapsed = (label: unknown): string => {
    const since = started.get(String(label));
    return `${String(label)}: ${since === undefined ? '?' : (now() - since).toFixed(3)}ms`;
  };
  const captured: Record<string, unknown> = {
    groupEnd: () => undefined,
    trace: (...args: unknown[]) => log('console.trace', `Trace: ${format(...args)}\n${new Error().stack ?? ''}`),
    dir: (item: unknown, options?: object) => log('console.dir', inspect(item, options)),
    table: (item: unknown) => log('console.table', inspect(item)),
    assert: (ok: unknown, ...args: unknown[]) => {
      if (!ok) log('console.error', args.length === 0 ? 'Assertion failed' : `Assertion failed: ${format(...args)}`);
    },
    count: (label: unknown = 'default') => {
      const count = (counts.get(String(label)) ?? 0) + 1;
      counts.set(String(label), count);
      log('console.log', `${String(label)}: ${count}`);
    },
    countReset: (label: unknown = 'default') => void counts.delete(String(label)),
    time: (label: unknown = 'default') => void started.set(String(label), now()),
    timeLog: (label: unknown = 'default', ...args: unknown[]) =>
      log('console.log', `${elapsed(label)} ${format(...args)}`),
    timeEnd: (label: unknown = 'default') => {
      log('console.log', elapsed(label));
      started.delete(String(label));
    },
  };
  for (const kind of ['log', 'info', 'warn', 'error', 'debug']) captured[kind] = write(kind);
  for (const name of ['dirxml', 'group', 'groupCollapsed']) captured[name] = write('log');
  Object.defineProperty(globalThis, 'console', { value: captured, writable: true, configurable: true });
};
