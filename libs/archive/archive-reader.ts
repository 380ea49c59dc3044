import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import {
  type ArchivedLines,
  fileOf,
  FORMAT,
  MANIFEST,
  type Manifest,
  type OnProgress,
  type PartName,
  PARTS,
} from './archive-format.js';

const NEWLINE = 0x0a;

/** A complete archive, whose parts match its manifest. */
export class ArchiveReader {
  private constructor(
    private readonly folder: string,
    readonly manifest: Manifest,
  ) {}

  /** Reads the whole archive once. Rejects when something is missing or was changed. */
  static async open(folder: string, onProgress: OnProgress): Promise<ArchiveReader> {
    const reader = new ArchiveReader(folder, await readManifest(folder));
    for (const part of PARTS) {
      await reader.verify(part);
      onProgress(`verify ${part}`, reader.manifest.parts[part].records);
    }
    return reader;
  }

  /** Reads the lines of a part in order. Holds one chunk and one line in memory. */
  async *lines<P extends PartName>(part: P): AsyncIterable<ArchivedLines[P]> {
    // Splits by byte, because Node's readline also splits at U+2028, which JSON does not escape.
    let begun: Buffer[] = [];
    for await (const chunk of inflated(this.pathOf(part))) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        begun.push(chunk.subarray(from, end));
        yield JSON.parse(Buffer.concat(begun).toString('utf8')) as ArchivedLines[P];
        begun = [];
        from = end + 1;
      }
      if (from < chunk.length) begun.push(chunk.subarray(from));
    }
  }

  private pathOf(part: PartName): string {
    return join(this.folder, fileOf(part));
  }

  private async verify(part: PartName): Promise<void> {
    const path = this.pathOf(part);
    const expected = this.manifest.parts[part];
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    if (bytes !== expected.bytes) throw damaged(path, `it has ${bytes} bytes, ${expected.bytes} were written`);
    if (hash.digest('hex') !== expected.sha256) throw damaged(path, 'its SHA-256 is not that of the manifest');
    let records = 0;
    for await (const chunk of inflated(path)) {
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) records++;
    }
    if (records !== expected.records)
      throw damaged(path, `it has ${records} records, ${expected.records} were written`);
  }
}

/** Rejects when the folder holds no archive, or an archive of an unknown format. */
export const readManifest = async (folder: string): Promise<Manifest> => {
  const path = join(folder, MANIFEST);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} cannot be read: ${folder} is not an archive, or its export did not finish`, {
      cause: error,
    });
  }
  const manifest = JSON.parse(text) as Partial<Manifest>;
  if (manifest.format !== FORMAT) {
    throw new Error(`${folder} has format ${String(manifest.format)}, this version of Sluice reads ${FORMAT}`);
  }
  const missing = PARTS.filter((part) => manifest.parts?.[part] === undefined);
  if (missing.length > 0) throw damaged(path, `it does not name ${missing.join(', ')}`);
  return manifest as Manifest;
};

const damaged = (path: string, what: string): Error =>
  new Error(`${path} is damaged: ${what}. Copy the archive again, or export again`);

async function* inflated(path: string): AsyncIterable<Buffer> {
  const file = createReadStream(path);
  const gunzip = createGunzip();
  file.on('error', (error) => gunzip.destroy(error));
  file.pipe(gunzip);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) yield chunk;
  } finally {
    file.destroy();
    gunzip.destroy();
  }
}
