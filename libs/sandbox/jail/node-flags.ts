import { type JailSpec } from './jail-level.js';

const known = process.allowedNodeEnvironmentFlags;

/** Flags of every child: bounded heap, Node's permission model as a second fence. */
export const nodeFlags = (
  { memoryMb, startsPrograms = false }: Pick<JailSpec, 'memoryMb' | 'startsPrograms'>,
  readable: readonly string[],
  writable: string,
): string[] => [
  `--max-old-space-size=${memoryMb}`,
  known.has('--permission') ? '--permission' : '--experimental-permission',
  ...(known.has('--allow-net') ? ['--allow-net'] : []),
  ...readable.map((path) => `--allow-fs-read=${path}`),
  `--allow-fs-write=${writable}`,
  ...(startsPrograms ? ['--allow-child-process'] : []),
  '--no-warnings',
];

/**
 * From Node 24 on V8 reserves 512 MB for machine code as writable memory. It is hardly used, but the kernel counts the
 * whole reservation towards the limit.
 */
const CODE_RANGE_MB = Number(process.versions.node.split('.', 1)[0]) >= 24 ? 512 : 0;

/** What a process may use: the heap, what Node itself needs, and Buffers, which the heap limit does not bound. */
export const memoryLimitBytes = (memoryMb: number): number => (memoryMb + 384) * 1024 * 1024;

/** The same as a limit of its writable address space, of which some is only reserved. */
export const dataLimitBytes = (memoryMb: number): number => memoryLimitBytes(memoryMb + CODE_RANGE_MB);

/** Threads count as processes: Node starts about a dozen. */
export const MAX_PROCESSES = 64;

/** Each takes about a kilobyte of the kernel's memory. */
export const MAX_TMP_FILES = 16_384;

/** Of a tmpfs. */
export const tmpOptions = (tmpMb: number): string =>
  `size=${tmpMb}m,nr_inodes=${MAX_TMP_FILES},mode=1777,nosuid,nodev,noexec`;
