import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';

const FLAG = /^--max[-_]old[-_]space[-_]size=(\d+)$/;

/** Heap that `npm start` gives a server without SLUICE_HEAP_MB. */
export const NPM_START_HEAP_MB = 1920;

/**
 * The heap that a server gets from `npm start` in the environment of this process, as `sluice config` shows it. The image
 * sets SLUICE_HEAP_MB to the heap that it gives. Neither reads .env.
 */
export const heapAtStart = (heapMb: number | null, isInherited: boolean): string => {
  if (heapMb === null) return `${NPM_START_HEAP_MB}  (default)`;
  if (isInherited) return String(heapMb);
  return `${NPM_START_HEAP_MB}  (default; ${heapMb} in .env has no effect)`;
};

/** Whether the process was started with the variable, and did not add it from `./.env` itself. */
export const isInherited = (name: string): boolean => {
  try {
    const started = readFileSync('/proc/self/environ', 'latin1').split('\0');
    return started.some((variable) => variable.startsWith(`${name}=`));
  } catch {
    return true;
  }
};

/**
 * Text for SLUICE_HEAP_MB that Node was not started with, because only Node's own flag sets the heap: `npm start` and
 * the image pass the setting on, and neither reads .env. Undefined where it is in force or not set.
 */
export const heapWarning = (
  heapMb: number | null,
  { execArgv, env }: Pick<NodeJS.Process, 'execArgv' | 'env'> = process,
): string | undefined => {
  // The command line wins over NODE_OPTIONS, and a later flag over an earlier one.
  const flags = [...(env.NODE_OPTIONS ?? '').split(/\s+/), ...execArgv].flatMap((flag) => FLAG.exec(flag)?.[1] ?? []);
  const inForce = flags.at(-1);
  if (heapMb === null || inForce === String(heapMb)) return undefined;
  const given =
    inForce === undefined
      ? `without --max-old-space-size, so its heap may have ${Math.round(getHeapStatistics().heap_size_limit / 2 ** 20)} MB`
      : `with --max-old-space-size=${inForce}`;
  return (
    `SLUICE_HEAP_MB is ${heapMb} and has no effect, because Node was started ${given}: set it in the environment ` +
    `(not in .env) of npm start or of the image, or start Node with --max-old-space-size=${heapMb}`
  );
};
