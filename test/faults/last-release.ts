import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '#test/harness/paths.js';
import { removeDir } from '#test/harness/temp-dir.js';

/**
 * The last release. Its roles must run beside those of this checkout. Name the new one here after each release
 * (CONTRIBUTING.md#recipe-a-form-that-the-last-release-cannot-read).
 */
export const LAST_RELEASE = '5cb7d0a7';

const run = promisify(execFile);
const MOST_OUTPUT = 64 * 1024 * 1024;
const BUILD_MS = 10 * 60_000;

/** Why the last release cannot be run here; undefined when it can. */
export const lastReleaseMissing = async (): Promise<string | undefined> => {
  try {
    await run('git', ['-C', ROOT, 'cat-file', '-e', `${LAST_RELEASE}^{commit}`]);
    return undefined;
  } catch {
    return `commit ${LAST_RELEASE}, the last release, is not in this checkout (a shallow clone, or no git)`;
  }
};

/** Folder of the last release, built. It is kept in the cache of the engines. */
export const lastRelease = async (): Promise<string> => {
  const cache = process.env.SLUICE_ENGINES_CACHE ?? join(homedir(), '.cache', 'sluice-engines');
  const checkout = createHash('sha256').update(ROOT).digest('hex').slice(0, 8);
  const dir = join(cache, `release-${LAST_RELEASE}-${checkout}`);
  if (existsSync(dir)) return dir;
  mkdirSync(cache, { recursive: true });
  // Built in a separate folder and renamed once, so that nobody finds a part of it.
  const build = mkdtempSync(join(cache, 'building-'));
  try {
    await run('sh', ['-c', 'git -C "$0" archive "$1" | tar -x -C "$2"', ROOT, LAST_RELEASE, build]);
    await installIn(build);
    await run('npm', ['run', '--silent', 'build'], { cwd: build, timeout: BUILD_MS, maxBuffer: MOST_OUTPUT });
    renameSync(build, dir);
  } finally {
    removeDir(build);
  }
  return dir;
};

/** Shares the packages of this checkout when they are the ones that the release names. */
const installIn = async (dir: string): Promise<void> => {
  if (differingPackages(dir).length === 0) symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  else await run('npm', ['ci', '--ignore-scripts=false'], { cwd: dir, timeout: BUILD_MS, maxBuffer: MOST_OUTPUT });
};

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const manifestIn = (dir: string): Manifest => {
  const file = join(dir, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : {};
};

const differingPackages = (dir: string): readonly string[] => {
  const { dependencies, devDependencies } = manifestIn(dir);
  return Object.entries({ ...dependencies, ...devDependencies })
    .filter(([name, version]) => manifestIn(join(ROOT, 'node_modules', name)).version !== version)
    .map(([name]) => name);
};
