/** Entry point of the jailed process that unpacks one tarball. Bundled to dist/libs/sandbox/unpack-child.cjs. */
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { pipeline, Transform, type TransformCallback } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { DOWN_FD, RecordParser, UP_FD } from '#libs/framing/records.js';
import {
  ANSWER_BYTES,
  ANSWER_PARTS,
  encodeUnpacked,
  RATIO_FREE_BYTES,
  wrongPath,
  type FilePart,
  type UnpackLimits,
  type UnpackOrder,
  type UnpackReply,
} from './unpack-message.js';

const MAX_RECORD = 64 * 1024;
const FILES: ReadonlySet<string> = new Set(['File', 'OldFile', 'ContiguousFile']);

const up = new Socket({ fd: UP_FD, readable: false, writable: true });
up.on('error', () => process.exit(1));

let parts: FilePart[] = [];
let content: Buffer[] = [];
let bytes = 0;
/** Called when the host asks for more. */
let wanted: (() => void) | undefined;
let isWanted = true;

const say = (reply: UnpackReply): void => void up.write(encodeUnpacked(reply));

const refuse = (reason: string): void => {
  say({ kind: 'refused', reason });
  // Nothing further is read. The host ends the process.
  isWanted = false;
};

/** Sends the gathered parts, and resolves once the host asks for more. */
const flush = async (last: boolean): Promise<void> => {
  if (!isWanted) await new Promise<void>((resolve) => (wanted = resolve));
  isWanted = false;
  const reply: UnpackReply = { kind: 'files', parts, last, content: Buffer.concat(content) };
  parts = [];
  content = [];
  bytes = 0;
  say(reply);
};

const add = async (part: FilePart, chunk: Buffer): Promise<void> => {
  parts.push(part);
  content.push(Buffer.from(chunk));
  bytes += chunk.length;
  if (bytes >= ANSWER_BYTES || parts.length >= ANSWER_PARTS) await flush(false);
};

/** Some packers write `./` within paths. */
const plain = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '.')
    .join('/');

class Refusal extends Error {}

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Most bytes of an archive for an entry besides its content: headers, a long path, and the padding of its block. */
const ENTRY_BYTES = 4_096;

const isGzip = (file: string): boolean => {
  const fd = openSync(file, 'r');
  const first = Buffer.alloc(GZIP.length);
  readSync(fd, first, 0, first.length, 0);
  closeSync(fd);
  return first.equals(GZIP);
};

/**
 * Counts the bytes of the archive itself, and refuses one within a compressed file, which the parser would unzip again.
 */
const archiveGuard = ({ bytes, entries }: UnpackLimits): Transform => {
  const most = bytes + entries * ENTRY_BYTES;
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
      const isFirst = seen === 0;
      seen += chunk.length;
      if (isFirst && [GZIP, ZSTD].some((magic) => chunk.subarray(0, magic.length).equals(magic)))
        return done(new Refusal('it is compressed twice'));
      if (seen > most) return done(new Refusal(`its archive has more than ${most} bytes`));
      done(null, chunk);
    },
  });
};

/** Longest package.json whose name is compared. */
const MANIFEST_BYTES = 1024 * 1024;

/** Refuses a package.json that names another package, which it could impersonate in lists and in resolution. */
const checkName = (text: string, packageName: string): void => {
  let name: unknown;
  try {
    name = (JSON.parse(text.replace(/^\uFEFF/, '')) as { name?: unknown } | null)?.name;
  } catch {
    return;
  }
  if (typeof name === 'string' && name.trim() !== packageName)
    throw new Refusal(`its package.json names another package, ${JSON.stringify(name.slice(0, 214))}`);
};

const unpack = async (file: string, limits: UnpackLimits, packageName?: string): Promise<void> => {
  const packed = statSync(file).size;
  let unpacked = 0;
  let entries = 0;

  const count = (more: number): void => {
    unpacked += more;
    if (unpacked > limits.bytes) throw new Refusal(`it unpacks to more than ${limits.bytes} bytes`);
    if (unpacked > RATIO_FREE_BYTES && unpacked > packed * limits.ratio)
      throw new Refusal(`it unpacks to more than ${limits.ratio} times its ${packed} bytes`);
  };

  const read = async (entry: ReadEntry): Promise<void> => {
    if (++entries > limits.entries) throw new Refusal(`it has more than ${limits.entries} entries`);
    count(entry.size);
    // A package is in one folder of its tarball, whose name varies.
    const path = plain(entry.path.replace(/^(?:\.\/)?[^/]+\//, ''));
    // Links and devices are left out, as npm does. So are bundled packages, because the lock does not list them.
    if (!FILES.has(entry.type) || /^node_modules(\/|$)/.test(path)) return void entry.resume();
    const wrong =
      entry.path.startsWith('/') || entry.path.split('/').includes('..')
        ? 'a path that leaves the package'
        : wrongPath(path);
    if (wrong !== undefined) throw new Refusal(`it contains ${wrong}: ${JSON.stringify(entry.path.slice(0, 100))}`);
    const executable = ((entry.mode ?? 0) & 0o111) !== 0;
    const isManifest = path === 'package.json' && packageName !== undefined && entry.size <= MANIFEST_BYTES;
    const manifest: Buffer[] = [];
    let starts = true;
    for await (const chunk of entry as unknown as AsyncIterable<Buffer>) {
      if (isManifest) manifest.push(Buffer.from(chunk));
      await add({ path, bytes: chunk.length, executable, starts }, chunk);
      starts = false;
    }
    if (isManifest) checkName(Buffer.concat(manifest).toString('utf8'), packageName);
    if (starts) await add({ path, bytes: 0, executable, starts }, Buffer.alloc(0));
  };

  await new Promise<void>((resolve, reject) => {
    let reading: Promise<void> = Promise.resolve();
    const parser = new Parser({
      strict: true,
      brotli: false,
      zstd: false,
      onReadEntry: (entry) => {
        reading = reading.then(() => read(entry));
        reading.catch(reject);
      },
    });
    parser.on('end', () => reading.then(resolve, reject));
    parser.on('error', reject);
    const guard = archiveGuard(limits);
    const failed = (error: Error | null | undefined): void => {
      if (error) reject(error);
    };
    if (isGzip(file)) pipeline(createReadStream(file), createGunzip(), guard, failed);
    else pipeline(createReadStream(file), guard, failed);
    // The types of the streams differ, but the parser has the methods that pipe uses.
    guard.pipe(parser);
    // Data after the end of an archive would stall the parser until the deadline, so it is not read.
    parser.on('eof', () => {
      guard.unpipe(parser);
      setImmediate(() => parser.end());
    });
  });
  await flush(true);
};

const receive = (order: UnpackOrder): void => {
  if (order.t === 'next') {
    isWanted = true;
    wanted?.();
    return;
  }
  unpack(order.file, order.limits, order.packageName).catch((error: unknown) => {
    if (error instanceof Refusal) return refuse(error.message);
    refuse(`it cannot be read: ${error instanceof Error ? error.message.slice(0, 200) : 'no error was given'}`);
  });
};

const down = new Socket({ fd: DOWN_FD, readable: true, writable: false });
const parser = new RecordParser(MAX_RECORD, ({ json }) => receive(JSON.parse(json.toString('utf8')) as UnpackOrder));
down.on('data', (chunk: Buffer) => parser.push(chunk));
down.on('error', () => process.exit(1));
down.on('end', () => process.exit(0));
