type Listed = readonly string[] | undefined;

export interface Platform {
  readonly os: string;
  readonly cpu: string;
  /** Null where the operating system has no choice of it. */
  readonly libc: string | null;
}

export const thisPlatform = (): Platform => {
  const isLinux = process.platform === 'linux';
  const { header } = isLinux
    ? (process.report.getReport() as unknown as { header: Record<string, unknown> })
    : { header: {} };
  const libc = isLinux ? ('glibcVersionRuntime' in header ? 'glibc' : 'musl') : null;
  return { os: process.platform, cpu: process.arch, libc };
};

/** Whether a package says that it runs here. A name with `!` before it excludes. */
export const runsOn = (
  platform: Platform,
  wants: { readonly os?: Listed; readonly cpu?: Listed; readonly libc?: Listed },
): boolean =>
  fits(platform.os, wants.os) &&
  fits(platform.cpu, wants.cpu) &&
  (wants.libc === undefined || fits(platform.libc, wants.libc));

const fits = (actual: string | null, listed: Listed = []): boolean => {
  if (listed.length === 0 || listed.includes('any')) return true;
  if (actual === null || listed.includes(`!${actual}`)) return false;
  return listed.includes(actual) || listed.every((each) => each.startsWith('!'));
};
