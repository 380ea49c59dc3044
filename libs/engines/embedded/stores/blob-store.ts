import { SerialQueue } from '#libs/async/serial-queue.js';
import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { storageFull } from '../writer/refusal.js';
import { isNoSpace } from '../writer/sqlite-driver.js';
import { type BlobStore, type StagedBlobs } from '#libs/kernel/blob-store.js';

const HASH = /^[0-9a-f]{64}$/;

/**
 * BlobStore as files `blobs/<first two of the hash>/<hash>`. Each file is synced before its rename, so it is complete.
 * Staged blobs are files `blobs/tmp/<hash>`. One process owns the folder, so it counts their stagings in memory.
 */
export class EmbeddedBlobStore implements BlobStore {
  private readonly stagings = new Map<string, number>();
  private readonly staging = new SerialQueue();

  private constructor(private readonly dir: string) {}

  /** For a look at the blobs that changes nothing. */
  static reading(dir: string): Pick<BlobStore, 'get' | 'hashes'> {
    return new EmbeddedBlobStore(dir);
  }

  static async open(dir: string): Promise<EmbeddedBlobStore> {
    // A crash leaves half-written and staged files only here.
    await rm(join(dir, 'tmp'), { recursive: true, force: true });
    await mkdir(join(dir, 'tmp'), { recursive: true });
    return new EmbeddedBlobStore(dir);
  }

  async put(text: string): Promise<string> {
    const hash = hashOf(text);
    if (await exists(this.path(hash))) return hash;
    const folder = join(this.dir, hash.slice(0, 2));
    await mkdir(folder, { recursive: true });
    await this.write(text, this.path(hash), (file) => file.sync());
    await syncFolder(folder);
    await syncFolder(this.dir);
    return hash;
  }

  async stage(texts: readonly string[]): Promise<StagedBlobs> {
    const staged: string[] = [];
    const release = (): Promise<void> =>
      this.staging.run(async () => {
        for (const hash of staged.splice(0)) await this.unstage(hash);
      });
    try {
      await this.staging.run(async () => {
        for (const text of texts) {
          const hash = hashOf(text);
          staged.push(hash);
          const others = this.stagings.get(hash) ?? 0;
          this.stagings.set(hash, others + 1);
          if (others === 0) await this.write(text, this.stagedPath(hash));
        }
      });
    } catch (error) {
      await release();
      throw error;
    }
    return { release };
  }

  async get(hash: string): Promise<string | undefined> {
    return (await readIfThere(this.path(hash))) ?? readIfThere(this.stagedPath(hash));
  }

  async fileOf(hash: string): Promise<string> {
    for (const path of [this.path(hash), this.stagedPath(hash)]) if (await exists(path)) return path;
    throw new EngineUnavailable('the data directory', `there is no blob ${hash}`);
  }

  async delete(hash: string): Promise<void> {
    await rm(this.path(hash), { force: true });
  }

  async *hashes(): AsyncIterable<string> {
    const folders = (await readdir(this.dir)).filter((name) => /^[0-9a-f]{2}$/.test(name));
    for (const folder of folders.sort()) {
      yield* (await readdir(join(this.dir, folder))).filter((name) => HASH.test(name));
    }
  }

  private async unstage(hash: string): Promise<void> {
    const others = (this.stagings.get(hash) ?? 1) - 1;
    if (others > 0) return void this.stagings.set(hash, others);
    this.stagings.delete(hash);
    await rm(this.stagedPath(hash), { force: true });
  }

  /** Calls `finish` before the file gets its name. */
  private async write(text: string, path: string, finish?: (file: FileHandle) => Promise<void>): Promise<void> {
    const temporary = join(this.dir, 'tmp', randomUUID());
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text, 'utf8');
      await finish?.(file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw isNoSpace(error) ? storageFull() : error;
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  }

  private stagedPath(hash: string): string {
    return join(this.dir, 'tmp', hash);
  }

  private path(hash: string): string {
    if (!HASH.test(hash)) throw new Error(`${JSON.stringify(hash)} is not a blob hash of 64 hex digits`);
    return join(this.dir, hash.slice(0, 2), hash);
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

const readIfThere = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

const exists = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
};

/** Checked by shape, because an error of another realm (jest) is not an instance of this realm's Error. */
const isMissing = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';

/** A new name is durable once its folder is synced. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};
