import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './paths.js';
import { removeDir } from './temp-dir.js';

export interface GoProgram {
  /** Name of the program and of its folder in the cache. */
  readonly name: string;
  /** For errors: what the program is, and what to do without Go. */
  readonly what: string;
  readonly without: string;
  /** Folder of its `main.go` and `go.mod` in the project. */
  readonly folder: string;
  /** Part of the name in the cache, for what `prepare` does. */
  readonly salt?: string;
  /** Changes the vendored sources in `build`. */
  readonly prepare?: (build: string) => void;
}

const SOURCES = ['main.go', 'go.mod'] as const;
const BUILD_MS = 10 * 60_000;

/** Path of the program, which is built unless it is in the cache. */
export const goProgram = async (program: GoProgram): Promise<string> => {
  const { name, folder, salt = '', prepare } = program;
  const cache = join(process.env.SLUICE_ENGINES_CACHE ?? join(homedir(), '.cache', 'sluice-engines'), name);
  const sources = SOURCES.map((file) => ({ file, text: readFileSync(join(ROOT, folder, file), 'utf8') }));
  const hash = createHash('sha256');
  for (const { text } of sources) hash.update(text);
  hash.update(salt);
  const binary = join(cache, `${name}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(binary)) return binary;
  mkdirSync(cache, { recursive: true });
  // Builds in a separate folder, then renames once. So two concurrent builds never see each other's partial files.
  const build = mkdtempSync(join(cache, 'building-'));
  try {
    for (const { file, text } of sources) writeFileSync(join(build, file), text);
    await go(program, build, ['get', '.']);
    await go(program, build, ['mod', 'vendor']);
    prepare?.(build);
    await go(program, build, ['build', '-mod=vendor', '-o', name, '.']);
    renameSync(join(build, name), binary);
  } finally {
    removeDir(build);
  }
  return binary;
};

const go = async ({ what, without }: GoProgram, cwd: string, args: readonly string[]): Promise<void> => {
  try {
    await promisify(execFile)('go', args, { cwd, timeout: BUILD_MS, env: process.env });
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT')
      throw new Error(`${what} is built with Go 1.24 or later, and there is no \`go\` in PATH: ${without}`, {
        cause: error,
      });
    throw new Error(`${what} could not be built, go ${args.join(' ')}: ${String(error)}`, { cause: error });
  }
};
