import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { storageFull } from '../writer/refusal.js';
import { isNoSpace } from '../writer/sqlite-driver.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';

const HASH = /^[0-9a-f]{64}$/;

/**
 * BlobStore as files `blobs/<first two of the hash>/<hash>`. Each file is synced before its rename, so it is complete.
 */
export class EmbeddedBlobStore implements BlobStore {
  private constructor(private readonly dir: string) {}

  /** For a look at the blobs that changes nothing. */
  static reading(dir: string): Pick<BlobStore, 'get' | 'hashes'> {
    return new EmbeddedBlobStore(dir);
  }

  static async open(dir: string): Promise<EmbeddedBlobStore> {
    // A crash leaves half-written files only here, under names that no caller asks for.
    await rm(join(dir, 'tmp'), { recursive: true, force: true });
    await mkdir(join(dir, 'tmp'), { recursive: true });
    return new EmbeddedBlobStore(dir);
  }

  async put(text: string): Promise<string> {
    const hash = createHash('sha256').update(text, 'utf8').digest('hex');
    if (await exists(this.path(hash))) return hash;
    const folder = join(this.dir, hash.slice(0, 2));
    await mkdir(folder, { recursive: true });
    const temporary = join(this.dir, 'tmp', randomUUID());
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text, 'utf8');
      await file.sync();
    } catch (error) {
      await rm(temporary, { force: true });
      throw isNoSpace(error) ? storageFull() : error;
    } finally {
      await file.close();
    }
    await rename(temporary, this.path(hash));
    await syncFolder(folder);
    await syncFolder(this.dir);
    return hash;
  }

  async get(hash: string): Promise<string | undefined> {
    try {
      return await readFile(this.path(hash), 'utf8');
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async fileOf(hash: string): Promise<string> {
    const path = this.path(hash);
    if (!(await exists(path))) throw new EngineUnavailable('the data directory', `there is no blob ${hash}`);
    return path;
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

  private path(hash: string): string {
    if (!HASH.test(hash)) throw new Error(`${JSON.stringify(hash)} is not a blob hash of 64 hex digits`);
    return join(this.dir, hash.slice(0, 2), hash);
  }
}

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
