export interface PackageLimits {
  readonly packages: number;
  readonly tarballBytes: number;
  /** Tarballs of one install together. */
  readonly tarballBytesInAll: number;
  /** Unpacked files of one install together. */
  readonly bytes: number;
  readonly entries: number;
  readonly ratio: number;
  readonly timeoutMs: number;
  /** Installs at once that are not served from the cache. One workspace has half of them at most. */
  readonly atOnce: number;
  /** Time for which an install waits for its turn. */
  readonly waitMs: number;
}

const MB = 1024 * 1024;

export const DEFAULT_PACKAGE_LIMITS: PackageLimits = {
  packages: 1_000,
  tarballBytes: 64 * MB,
  tarballBytesInAll: 256 * MB,
  bytes: 512 * MB,
  entries: 50_000,
  ratio: 100,
  timeoutMs: 120_000,
  atOnce: 2,
  waitMs: 20_000,
};
