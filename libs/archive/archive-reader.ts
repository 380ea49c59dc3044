import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { messageOf } from '#libs/kernel/error-message.js';
import {
  type ArchivedLines,
  fileOf,
  FORMAT,
  MANIFEST,
  type Manifest,
  type OnProgress,
  type PartName,
  PARTS,
  type PartSummary,
} from './archive-format.js';

const NEWLINE = 0x0a;
const GZIP = Buffer.from([0x1f, 0x8b]);

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
    const path = this.pathOf(part);
    let begun: Buffer[] = [];
    let line = 0;
    for await (const chunk of inflated(path)) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        begun.push(chunk.subarray(from, end));
        yield parsedLine(path, ++line, Buffer.concat(begun).toString('utf8')) as ArchivedLines[P];
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
    const { bytes, sha256, begin } = await digestOf(path);
    if (bytes > 0 && !begin.equals(GZIP)) throw damaged(path, 'it does not begin like a gzip file');
    if (bytes < expected.bytes) throw damaged(path, `it ends after ${bytes} of ${expected.bytes} bytes`);
    if (bytes > expected.bytes) throw damaged(path, `it has ${bytes} bytes, ${expected.bytes} were written`);
    if (sha256 !== expected.sha256)
      throw damaged(path, `its bytes were changed: the SHA-256 is not that of ${MANIFEST}`);
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
  const manifest = parsedManifest(path, await manifestText(folder, path));
  if (manifest.format !== FORMAT) {
    throw new UnusableArchive(
      `${path}: the archive has format ${shown(manifest.format)}, and this version of Sluice reads ${FORMAT}. ` +
        'Import it with the version that exported it, or a later one',
    );
  }
  for (const name of ['archive', 'keyCheck'] as const) {
    if (typeof manifest[name] !== 'string') throw damaged(path, `"${name}" is missing`);
  }
  const wrong = PARTS.filter((part) => !isSummary(manifest.parts?.[part]));
  if (wrong.length > 0) throw damaged(path, `it does not name ${wrong.join(', ')} with records, bytes and sha256`);
  return manifest as Manifest;
};

/** The archive cannot be imported. The message names the file, the place in it, and what to do. */
export class UnusableArchive extends Error {
  override readonly name = 'UnusableArchive';
}

const manifestText = async (folder: string, path: string): Promise<string> => {
  const found = await stat(folder).catch((error: unknown) => {
    throw unreadable(folder, error, `${folder} does not exist: give the folder that \`sluice export\` wrote`);
  });
  if (!found.isDirectory()) {
    throw new UnusableArchive(`${folder} is a file: an archive is the folder that \`sluice export\` wrote`);
  }
  return readFile(path, 'utf8').catch((error: unknown) => {
    const missing = `${path} is missing: ${folder} is not an archive, or its export did not finish. Give the folder that \`sluice export\` wrote, or export again`;
    throw unreadable(path, error, missing);
  });
};

const parsedManifest = (path: string, text: string): Partial<Manifest> => {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw damaged(path, `it is not JSON (${messageOf(error)})`);
  }
  if (typeof manifest !== 'object' || manifest === null) throw damaged(path, 'it is no JSON object');
  return manifest;
};

const isSummary = (summary: Partial<PartSummary> | undefined): boolean =>
  Number.isSafeInteger(summary?.records) && Number.isSafeInteger(summary?.bytes) && typeof summary?.sha256 === 'string';

const shown = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value).slice(0, 40));

const damaged = (path: string, what: string): UnusableArchive =>
  new UnusableArchive(`${path} is damaged: ${what}. Copy the archive again, or export again`);

const unreadable = (path: string, error: unknown, missing: string): UnusableArchive => {
  const isMissing = typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
  const text = isMissing ? missing : `${path} cannot be read (${messageOf(error)}): let this user read it`;
  return new UnusableArchive(text, { cause: error });
};

const parsedLine = (path: string, line: number, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw damaged(path, `line ${line} is not JSON (${messageOf(error).slice(0, 80)})`);
  }
};

interface Digest {
  readonly bytes: number;
  readonly sha256: string;
  /** The first two bytes. */
  readonly begin: Buffer;
}

const digestOf = async (path: string): Promise<Digest> => {
  const hash = createHash('sha256');
  let bytes = 0;
  let begin = Buffer.alloc(0);
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      if (begin.length < GZIP.length) begin = Buffer.concat([begin, chunk.subarray(0, GZIP.length - begin.length)]);
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch (error) {
    const missing = `${path} is missing, and ${MANIFEST} names it. Copy the archive again, or export again`;
    throw unreadable(path, error, missing);
  }
  return { bytes, sha256: hash.digest('hex'), begin };
};

async function* inflated(path: string): AsyncIterable<Buffer> {
  const file = createReadStream(path);
  const gunzip = createGunzip();
  file.on('error', (error) => gunzip.destroy(error));
  file.pipe(gunzip);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw damaged(path, `it cannot be unpacked after byte ${gunzip.bytesWritten} (${messageOf(error)})`);
  } finally {
    file.destroy();
    gunzip.destroy();
  }
}
