import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Collection, type Db } from 'mongodb';
import { type BlobStore, BlobTooLarge, type StagedBlobs } from '#libs/kernel/blob-store.js';
import { documentsById } from '../documents-by-id.js';
import { DURABLE } from '../durable.js';
import { ensureIndexes } from '../ensure-indexes.js';
import { isDuplicateKey } from '../server-errors.js';

/** MongoDB's limit of 16 MiB for a document, less a margin for the fields around the text. */
export const BLOB_BYTES = (16 << 20) - 1024;

interface BlobDocument {
  readonly _id: string;
  readonly text: string;
}

/** One for each staging of a text, so that no staging ends another. */
interface StagedDocument {
  readonly _id: string;
  readonly hash: string;
  readonly text: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Older ones are left from a crash. A staging removes them, because FerretDB has no TTL indexes. */
const STAGED_MS = 24 * 3_600_000;
/** Local files of staged blobs are read at once, and no release reaches those of another machine. */
const STAGED_FILES = 32;

/** BlobStore in MongoDB with a document per blob. Files for jails are cached in a local folder and checked by hash. */
export class MongoBlobStore implements BlobStore {
  private readonly blobs: Collection<BlobDocument>;
  private readonly staged: Collection<StagedDocument>;

  /** Several processes may share `cacheDir`, and it may be removed at any time. */
  constructor(
    db: Db,
    private readonly cacheDir: string,
  ) {
    this.blobs = db.collection<BlobDocument>('blobs', DURABLE);
    this.staged = db.collection<StagedDocument>('staged_blobs', DURABLE);
  }

  ensureIndexes(): Promise<void> {
    return ensureIndexes(this.staged, [
      { name: 'hash', key: { hash: 1 } },
      { name: 'at', key: { at: 1 } },
    ]);
  }

  async put(text: string): Promise<string> {
    checkSize(text);
    const hash = hashOf(text);
    if (await this.blobs.findOne({ _id: hash }, { projection: { _id: 1 }, readConcern: 'majority' })) return hash;
    try {
      await this.blobs.insertOne({ _id: hash, text });
    } catch (error) {
      // Another process stored the blob at the same time. This write waits until it is durable.
      if (!isDuplicateKey(error)) throw error;
      await this.blobs.updateOne({ _id: hash }, { $set: { text } });
    }
    return hash;
  }

  async stage(texts: readonly string[]): Promise<StagedBlobs> {
    const ids: string[] = [];
    const release = async (): Promise<void> => {
      await this.staged.deleteMany({ _id: { $in: ids } });
    };
    const at = Date.now();
    await this.staged.deleteMany({ at: { $lt: at - STAGED_MS } });
    try {
      for (const text of texts) {
        checkSize(text);
        const _id = randomUUID();
        ids.push(_id);
        await this.staged.insertOne({ _id, hash: hashOf(text), text, at });
      }
    } catch (error) {
      // Best effort, because the next staging of another day removes them.
      await release().catch(() => undefined);
      throw error;
    }
    return { release };
  }

  async get(hash: string): Promise<string | undefined> {
    checkHash(hash);
    return (await this.blobs.findOne({ _id: hash }))?.text ?? (await this.staged.findOne({ hash }))?.text;
  }

  async fileOf(hash: string): Promise<string> {
    const path = join(this.cacheDir, checkHash(hash).slice(0, 2), hash);
    if (await holds(path, hash)) return path;
    const text = (await this.blobs.findOne({ _id: hash }))?.text;
    if (text !== undefined) return this.written(text, join(this.cacheDir, hash.slice(0, 2)), hash);
    const staged = (await this.staged.findOne({ hash }))?.text;
    if (staged === undefined) throw new EngineUnavailable('MongoDB', `there is no blob ${hash}`);
    return this.writtenForNow(staged, join(this.cacheDir, 'staged'));
  }

  /** Removes the oldest files, because a blob that is refused may never be asked for again. */
  private async writtenForNow(text: string, folder: string): Promise<string> {
    const path = await this.written(text, folder, `${String(Date.now()).padStart(15, '0')}-${randomUUID()}`);
    const files = (await readdir(folder)).sort();
    for (const name of files.slice(0, -STAGED_FILES)) await rm(join(folder, name), { force: true });
    return path;
  }

  private async written(text: string, folder: string, name: string): Promise<string> {
    const path = join(folder, name);
    await mkdir(folder, { recursive: true });
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

const checkSize = (text: string): void => {
  const bytes = Buffer.byteLength(text);
  if (bytes > BLOB_BYTES) throw new BlobTooLarge(bytes, BLOB_BYTES);
};

const checkHash = (hash: string): string => {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error(`${JSON.stringify(hash)} is not a blob hash of 64 hex digits`);
  return hash;
};

/** A crash of the machine may have left an incomplete file under its final name. */
const holds = async (path: string, hash: string): Promise<boolean> => {
  try {
    return hashOf(await readFile(path)) === hash;
  } catch (error) {
    // Checked by shape, because an error of another realm (jest) is not an instance of this realm's Error.
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
};
