import { type JailSpec } from './jail-level.js';

const known = process.allowedNodeEnvironmentFlags;

/** Node flags of every child: a bounded heap, and Node's permission model as a second barrier. */
export const nodeFlags = (
  {
    memoryMb,
    startsPrograms = false,
    loadsMachineCode = false,
  }: Pick<JailSpec, 'memoryMb' | 'startsPrograms' | 'loadsMachineCode'>,
  readable: readonly string[],
  writable: string,
): string[] => [
  `--max-old-space-size=${memoryMb}`,
  known.has('--permission') ? '--permission' : '--experimental-permission',
  ...(known.has('--allow-net') ? ['--allow-net'] : []),
  ...readable.map((path) => `--allow-fs-read=${path}`),
  `--allow-fs-write=${writable}`,
  ...(startsPrograms ? ['--allow-child-process'] : []),
  ...(loadsMachineCode ? ['--allow-addons'] : []),
  '--no-warnings',
];

/**
 * Since Node 24, V8 reserves 512 MB of writable memory for machine code. Little of it is used, but the kernel counts
 * the whole reservation towards the limit.
 */
const CODE_RANGE_MB = Number(process.versions.node.split('.', 1)[0]) >= 24 ? 512 : 0;

/** Memory limit of a process: heap, Node's own needs, and Buffers, which the heap limit does not cover. */
export const memoryLimitBytes = (memoryMb: number): number => (memoryMb + 384) * 1024 * 1024;

/** Memory limit as a limit of writable address space, some of which is only reserved. */
export const dataLimitBytes = (memoryMb: number): number => memoryLimitBytes(memoryMb + CODE_RANGE_MB);

/** Process limit, which includes threads. Node starts about a dozen threads. */
export const MAX_PROCESSES = 64;

/** Limit of files in /tmp. Each takes about a kilobyte of kernel memory. */
export const MAX_TMP_FILES = 16_384;

/** Mount options of the tmpfs at /tmp. */
export const tmpOptions = (tmpMb: number): string =>
  `size=${tmpMb}m,nr_inodes=${MAX_TMP_FILES},mode=1777,nosuid,nodev,noexec`;
