import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Collection, type Db } from 'mongodb';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { documentsById } from '../documents-by-id.js';
import { DURABLE } from '../durable.js';
import { isDuplicateKey } from '../server-errors.js';

/** A document may have 16 MiB; what is around the text takes a little of it. */
export const BLOB_BYTES = (16 << 20) - 1024;

interface BlobDocument {
  readonly _id: string;
  readonly text: string;
}

/** BlobStore in MongoDB, a document per blob. Files for jails are kept in a folder of this machine, checked by their hash. */
export class MongoBlobStore implements BlobStore {
  private readonly blobs: Collection<BlobDocument>;

  /** `cacheDir` may be used by several processes at once, and removed at any time. */
  constructor(
    db: Db,
    private readonly cacheDir: string,
  ) {
    this.blobs = db.collection<BlobDocument>('blobs', DURABLE);
  }

  async put(text: string): Promise<string> {
    const bytes = Buffer.byteLength(text);
    if (bytes > BLOB_BYTES) throw new Error(`a blob of ${bytes} bytes cannot be stored, at most ${BLOB_BYTES} can`);
    const hash = hashOf(text);
    if (await this.blobs.findOne({ _id: hash }, { projection: { _id: 1 }, readConcern: 'majority' })) return hash;
    try {
      await this.blobs.insertOne({ _id: hash, text });
    } catch (error) {
      // Another has put it at the same time: acknowledged to us, too, once it is durable.
      if (!isDuplicateKey(error)) throw error;
      await this.blobs.updateOne({ _id: hash }, { $set: { text } });
    }
    return hash;
  }

  async get(hash: string): Promise<string | undefined> {
    checkHash(hash);
    return (await this.blobs.findOne({ _id: hash }))?.text;
  }

  async fileOf(hash: string): Promise<string> {
    const path = join(this.cacheDir, checkHash(hash).slice(0, 2), hash);
    if (await holds(path, hash)) return path;
    const text = await this.get(hash);
    if (text === undefined) throw new Error(`there is no blob ${hash}`);
    await mkdir(join(this.cacheDir, hash.slice(0, 2)), { recursive: true });
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
    return path;
  }

  async delete(hash: string): Promise<void> {
    await this.blobs.deleteOne({ _id: checkHash(hash) });
    await rm(join(this.cacheDir, hash.slice(0, 2), hash), { force: true });
  }

  async *hashes(): AsyncIterable<string> {
    for await (const { _id } of documentsById(this.blobs, ['_id'])) yield _id;
  }
}

const hashOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

const checkHash = (hash: string): string => {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error(`${JSON.stringify(hash)} is no blob hash: 64 hex digits are`);
  return hash;
};

/** A crash of the machine may have left a file that is not whole under its name. */
const holds = async (path: string, hash: string): Promise<boolean> => {
  try {
    return hashOf(await readFile(path)) === hash;
  } catch (error) {
    // By shape: an error of another realm (jest) is no instance of this one's Error.
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
};
