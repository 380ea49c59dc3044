import { chmod, chown, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isReadableByAll } from '../bundler/engine-files.js';
import { type ChildKind } from '../child-build.js';
import { childCode } from '../child-file.js';
import { type JailLevel, type JailSpec } from '../jail/jail-level.js';
import { JailedProcess, type JailedProcessHandlers } from '../jail/jailed-process.js';
import { folderPrefix, removeStaleFolders } from '../jail/stale-folders.js';
import { uids } from '../jail/uids.js';

export interface JailLimits {
  /** Heap limit of one process. */
  readonly memoryMb: number;
  /** Size of the process's /tmp. */
  readonly tmpMb: number;
  /** Time limit for starting the process and loading the bundle. */
  readonly startTimeoutMs: number;
}

export const DEFAULT_JAIL_LIMITS: JailLimits = { memoryMb: 256, tmpMb: 128, startTimeoutMs: 10_000 };

/** What one process has apart from the others. `memoryMb` takes the place of that of the limits. */
export type JailExtras = Pick<JailSpec, 'reads' | 'startsPrograms' | 'loadsMachineCode'> &
  Partial<Pick<JailSpec, 'memoryMb'>>;

/** Starts jailed processes from one temporary folder, which holds the child's code and a private folder each. */
export class JailLauncher {
  private ready: Promise<{ dir: string; childFile: string }> | undefined;
  private count = 0;
  private readonly copies = new Map<string, Promise<void>>();

  constructor(
    readonly level: JailLevel,
    readonly limits: JailLimits,
    private readonly code: ChildKind | (() => Promise<string>) = 'plain',
  ) {}

  /** Starts a process. Its folder and user id are released when it has ended. */
  async start(
    egressSocket: string | undefined,
    handlers: JailedProcessHandlers,
    extras: JailExtras = {},
  ): Promise<JailedProcess> {
    this.ready ??= this.open();
    const { dir, childFile } = await this.ready;
    const uid = uids.acquire();
    const privateDir = path.join(dir, String(++this.count));
    const free = async (): Promise<void> => {
      uids.release(uid);
      await rm(privateDir, { recursive: true, force: true });
      // Empty by now: only the jail saw what was mounted there.
      await rm(`${privateDir}-reads`, { recursive: true, force: true });
    };
    try {
      await mkdir(privateDir, { mode: 0o700 });
      if (uid !== null) await chown(privateDir, uid, uid);
      const { memoryMb, tmpMb } = this.limits;
      const spec: JailSpec = {
        childFile,
        privateDir,
        memoryMb,
        tmpMb,
        uid,
        ...extras,
        ...(egressSocket === undefined ? {} : { egressSocket }),
      };
      return new JailedProcess(this.level, spec, handlers, free);
    } catch (error) {
      await free();
      throw error;
    }
  }

  /** Path at which jailed users can read a file: the file itself, or a copy beside the child's code. */
  async readable(file: string): Promise<string> {
    this.ready ??= this.open();
    const { dir } = await this.ready;
    if (process.getuid?.() !== 0 || isReadableByAll(file)) return file;
    const copy = path.join(dir, path.basename(file));
    this.copies.set(file, this.copies.get(file) ?? copyFile(file, copy).then(() => chmod(copy, 0o755)));
    await this.copies.get(file);
    return copy;
  }

  /** Removes the temporary folder. All processes must have ended. Idempotent. */
  async close(): Promise<void> {
    if (!this.ready) return;
    const { dir } = await this.ready;
    this.ready = undefined;
    this.copies.clear();
    await rm(dir, { recursive: true, force: true });
  }

  private async open(): Promise<{ dir: string; childFile: string }> {
    const code = await (typeof this.code === 'string' ? childCode(this.code) : this.code());
    await removeStaleFolders(tmpdir());
    const dir = await mkdtemp(path.join(tmpdir(), folderPrefix('jail')));
    // Jailed users may traverse the folder but not list it.
    await chmod(dir, 0o711);
    const childFile = path.join(dir, 'child.cjs');
    await writeFile(childFile, code);
    await chmod(childFile, 0o644);
    return { dir, childFile };
  }
}
