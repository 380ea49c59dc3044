import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openEngines } from '#libs/engines/embedded/testing/open-engines.js';
import { type PartSummary } from './archive-format.js';
import { ArchiveReader, readManifest, UnusableArchive } from './archive-reader.js';
import { ArchiveWriter } from './archive-writer.js';
import { exportTo, fill, importFrom, perEmitter } from './testing/moved-installation.js';

let scratch: string;
let whole: string;
let archive: string;
let copies = 0;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'sluice-damaged-'));
  whole = join(scratch, 'whole');
  const source = await openEngines(join(scratch, 'source'));
  await fill(source);
  await exportTo(source, whole);
  await source.close();
});
afterAll(() => rmSync(scratch, { recursive: true }));
beforeEach(() => {
  archive = join(scratch, `archive-${++copies}`);
  cpSync(whole, archive, { recursive: true });
});
afterEach(() => rmSync(archive, { recursive: true, force: true }));

const fileIn = (name: string): string => join(archive, name);
const opened = (folder = archive) => ArchiveReader.open(folder, () => undefined);
const bytesOf = (name: string): Buffer => readFileSync(fileIn(name));
const again = 'Copy the archive again, or export again';

/** Replaces a part and its entry in the manifest, so that only the content is wrong. */
const forge = (part: string, bytes: Buffer): void => {
  writeFileSync(fileIn(`${part}.ndjson.gz`), bytes);
  const manifest = JSON.parse(bytesOf('manifest.json').toString()) as { parts: Record<string, PartSummary> };
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const records = manifest.parts[part]?.records ?? 0;
  manifest.parts[part] = { records, bytes: bytes.length, sha256 };
  writeFileSync(fileIn('manifest.json'), JSON.stringify(manifest));
};

/** Expects one sentence that names the file, the place and the remedy. */
const refused = async (attempt: Promise<unknown>, text: string): Promise<void> => {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UnusableArchive);
  expect((error as Error).message).toBe(text);
};

describe('an archive is refused before anything is written', () => {
  it('when nothing was damaged it is not', async () => {
    await opened();
  });

  it('when a part is truncated', async () => {
    const bytes = bytesOf('events.ndjson.gz');
    writeFileSync(fileIn('events.ndjson.gz'), bytes.subarray(0, -5));
    const place = `it ends after ${bytes.length - 5} of ${bytes.length} bytes`;
    await refused(opened(), `${fileIn('events.ndjson.gz')} is damaged: ${place}. ${again}`);
  });

  it('when a part was appended to', async () => {
    const bytes = bytesOf('attempts.ndjson.gz');
    writeFileSync(fileIn('attempts.ndjson.gz'), Buffer.concat([bytes, Buffer.from('x')]));
    const place = `it has ${bytes.length + 1} bytes, ${bytes.length} were written`;
    await refused(opened(), `${fileIn('attempts.ndjson.gz')} is damaged: ${place}. ${again}`);
  });

  it('when a part has the wrong magic bytes', async () => {
    const bytes = bytesOf('blobs.ndjson.gz');
    writeFileSync(fileIn('blobs.ndjson.gz'), Buffer.concat([Buffer.from('PK'), bytes.subarray(2)]));
    await refused(opened(), `${fileIn('blobs.ndjson.gz')} is damaged: it does not begin like a gzip file. ${again}`);
  });

  it('when a byte of a part was changed', async () => {
    const bytes = bytesOf('secrets.ndjson.gz');
    bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1);
    writeFileSync(fileIn('secrets.ndjson.gz'), bytes);
    const place = 'its bytes were changed: the SHA-256 is not that of manifest.json';
    await refused(opened(), `${fileIn('secrets.ndjson.gz')} is damaged: ${place}. ${again}`);
  });

  it('when a part is missing', async () => {
    rmSync(fileIn('ticks.ndjson.gz'));
    await refused(opened(), `${fileIn('ticks.ndjson.gz')} is missing, and manifest.json names it. ${again}`);
  });

  it('when a part cannot be unpacked', async () => {
    forge('events', bytesOf('events.ndjson.gz').subarray(0, -9));
    await expect(opened()).rejects.toThrow(
      /events\.ndjson\.gz is damaged: it cannot be unpacked after byte \d+ \(.*unexpected end of file\)\. Copy/,
    );
  });

  it('when a part lacks records', async () => {
    const lines = gunzipSync(bytesOf('events.ndjson.gz')).toString().split('\n');
    forge('events', gzipSync(lines.slice(1).join('\n')));
    const place = `it has ${lines.length - 2} records, ${lines.length - 1} were written`;
    await refused(opened(), `${fileIn('events.ndjson.gz')} is damaged: ${place}. ${again}`);
  });

  it('when its manifest is missing', async () => {
    rmSync(fileIn('manifest.json'));
    const text = `${fileIn('manifest.json')} is missing: ${archive} is not an archive, or its export did not finish. Give the folder that \`sluice export\` wrote, or export again`;
    await refused(opened(), text);
  });

  it('when its manifest is truncated', async () => {
    writeFileSync(fileIn('manifest.json'), bytesOf('manifest.json').subarray(0, 40));
    await expect(opened()).rejects.toThrow(/manifest\.json is damaged: it is not JSON \(.*position \d+.*\)\. Copy/);
  });

  it.each([
    ['null', 'it is no JSON object'],
    ['{"format":1}', '"archive" is missing'],
    ['{"format":1,"archive":"a","keyCheck":"k","parts":{}}', 'it does not name events, blobs, '],
  ])('when its manifest is %s', async (text, place) => {
    writeFileSync(fileIn('manifest.json'), text);
    await expect(opened()).rejects.toThrow(`${fileIn('manifest.json')} is damaged: ${place}`);
  });

  it('when it has the format of another version', async () => {
    writeFileSync(fileIn('manifest.json'), '{"format":7}');
    const text = `${fileIn('manifest.json')}: the archive has format 7, and this version of Sluice reads 1. Import it with the version that exported it, or a later one`;
    await refused(readManifest(archive), text);
  });

  it('when it is no archive at all', async () => {
    const gone = join(scratch, 'gone');
    await refused(opened(gone), `${gone} does not exist: give the folder that \`sluice export\` wrote`);
    const file = fileIn('manifest.json');
    await refused(opened(file), `${file} is a file: an archive is the folder that \`sluice export\` wrote`);
    const other = join(archive, 'other');
    mkdirSync(other);
    await expect(opened(other)).rejects.toThrow(`${other} is not an archive`);
  });
});

describe('an export', () => {
  it('names the folder that it cannot write to', async () => {
    const inFile = join(fileIn('manifest.json'), 'folder');
    await expect(ArchiveWriter.create(inFile)).rejects.toThrow(
      /manifest\.json\/folder cannot be used for an archive \(.*ENOTDIR.*\): name a folder that this user may write$/,
    );
  });
});

describe('an import ends with the place of a record', () => {
  const importing = async (): Promise<void> => {
    const target = await openEngines(join(scratch, `target-${copies}`));
    try {
      await importFrom(archive, target, perEmitter);
    } finally {
      await target.close();
    }
  };

  it('that is not JSON', async () => {
    const lines = gunzipSync(bytesOf('events.ndjson.gz')).toString().split('\n');
    forge('events', gzipSync(lines.with(2, '{"stream":').join('\n')));
    await expect(importing()).rejects.toThrow(/events\.ndjson\.gz is damaged: line 3 is not JSON \(.*\)\. Copy/);
  });

  it('whose secret was changed, or whose code', async () => {
    const secrets = gunzipSync(bytesOf('secrets.ndjson.gz')).toString();
    forge('secrets', gzipSync(secrets.replace(/"sealed":"..../, '"sealed":"AAAA')));
    await expect(importing()).rejects.toThrow(/secrets\.ndjson\.gz is damaged: secret sec_\w+ cannot be opened/);
    const blobs = gunzipSync(bytesOf('blobs.ndjson.gz')).toString();
    forge('blobs', gzipSync(blobs.replace('"text":"', '"text":"x')));
    rmSync(join(scratch, `target-${copies}`), { recursive: true });
    await expect(importing()).rejects.toThrow(/blobs\.ndjson\.gz is damaged: the text of blob \w+ has the hash \w+\./);
  });
});
