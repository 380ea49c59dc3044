import { getHeapStatistics } from 'node:v8';

const FLAG = /^--max[-_]old[-_]space[-_]size=(\d+)$/;

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
