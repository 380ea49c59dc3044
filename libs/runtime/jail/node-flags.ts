const known = process.allowedNodeEnvironmentFlags;

/** Flags of every child: bounded heap, Node's permission model as a second fence. */
export const nodeFlags = (memoryMb: number, readable: readonly string[], writable: string): string[] => [
  `--max-old-space-size=${memoryMb}`,
  known.has('--permission') ? '--permission' : '--experimental-permission',
  ...(known.has('--allow-net') ? ['--allow-net'] : []),
  ...readable.map((path) => `--allow-fs-read=${path}`),
  `--allow-fs-write=${writable}`,
  '--no-warnings',
];

/**
 * Writable anonymous memory of the whole process: the heap, what Node itself needs, and Buffers, which the heap limit
 * does not bound.
 */
export const dataLimitBytes = (memoryMb: number): number => (memoryMb + 384) * 1024 * 1024;

/** Threads count as processes: Node starts about a dozen. */
export const MAX_PROCESSES = 64;
