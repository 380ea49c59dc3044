import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { makeDirectory } from '#libs/config/make-directory.js';
import { messageOf } from '#libs/kernel/error-message.js';
import {
  type ArchivedLines,
  fileOf,
  FORMAT,
  MANIFEST,
  type Manifest,
  type PartName,
  type PartSummary,
} from './archive-format.js';

const CHUNK = 64 * 1024;

/** Writes an archive part by part. Until `finish` it has no manifest, so no import accepts it. */
export class ArchiveWriter {
  private readonly summaries: Partial<Record<PartName, PartSummary>> = {};

  private constructor(private readonly folder: string) {}

  /** Rejects when the folder is not empty. */
  static async create(folder: string): Promise<ArchiveWriter> {
    const [first] = await filesIn(folder);
    if (first !== undefined) {
      throw new Error(`${folder} is not empty (it holds ${first}): name a new folder, or remove what is there`);
    }
    return new ArchiveWriter(folder);
  }

  /** Resolves when the part is durable. Holds one chunk and the longest line in memory. */
  async part<P extends PartName>(part: P, lines: AsyncIterable<ArchivedLines[P]>): Promise<PartSummary> {
    let records = 0;
    let bytes = 0;
    const hash = createHash('sha256');
    const count = async function* (): AsyncIterable<ArchivedLines[P]> {
      for await (const line of lines) {
        records++;
        yield line;
      }
    };
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        hash.update(chunk);
        done(null, chunk);
      },
    });
    const path = join(this.folder, fileOf(part));
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    await pipeline(Readable.from(chunks(count())), createGzip(), measure, file);
    await sync(path);
    const summary = { records, bytes, sha256: hash.digest('hex') };
    this.summaries[part] = summary;
    return summary;
  }

  /** Completes the archive. The manifest appears atomically, after everything that it names. */
  async finish(archive: string, keyCheck: string, exportedAt: string): Promise<Manifest> {
    // An export writes every part before this call.
    const parts = this.summaries as Record<PartName, PartSummary>;
    const manifest: Manifest = { format: FORMAT, archive, exportedAt, keyCheck, parts };
    const draft = join(this.folder, `${MANIFEST}.draft`);
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(this.folder, MANIFEST));
    await sync(this.folder);
    return manifest;
  }
}

const filesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    makeDirectory(folder);
    return await readdir(folder);
  } catch (error) {
    throw new Error(
      `${folder} cannot be used for an archive (${messageOf(error)}): name a folder that this user may write`,
      {
        cause: error,
      },
    );
  }
};

async function* chunks(lines: AsyncIterable<unknown>): AsyncIterable<string> {
  let chunk = '';
  for await (const line of lines) {
    chunk += `${JSON.stringify(line)}\n`;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
