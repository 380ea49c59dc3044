/**
 * Messages between host and the process that unpacks one tarball, as records of libs/framing. The process
 * parses bytes that a stranger made, so every answer is hostile input.
 */
import { nestsTooDeep } from '#libs/framing/json-text.js';
import { encodeRecord, ProtocolBreach, type RawRecord } from '#libs/framing/records.js';

/** Message from host. `open` comes first. `next` asks for more until an answer is the last one. */
export type UnpackOrder =
  | {
      readonly t: 'open';
      readonly file: string;
      readonly limits: UnpackLimits;
      /** Refuses a package.json with another name. */
      readonly packageName?: string;
    }
  | { readonly t: 'next' };

export interface UnpackLimits {
  readonly bytes: number;
  readonly entries: number;
  /** Most unpacked bytes for each byte of the tarball, once more than RATIO_FREE_BYTES are unpacked. */
  readonly ratio: number;
}

/** A part of a file. Parts of one file follow each other, and only the first one has `starts`. */
export interface FilePart {
  readonly path: string;
  readonly bytes: number;
  readonly executable: boolean;
  readonly starts: boolean;
}

/** Raw: the bytes of all parts, in order. */
export type UnpackReply =
  | { readonly kind: 'files'; readonly parts: readonly FilePart[]; readonly last: boolean; readonly content: Buffer }
  | { readonly kind: 'refused'; readonly reason: string };

/** Bytes after which an answer is sent. */
export const ANSWER_BYTES = 2 * 1024 * 1024;
/** Parts after which an answer is sent. */
export const ANSWER_PARTS = 2_000;
export const RATIO_FREE_BYTES = 8 * 1024 * 1024;
/** Size limit of one answer. A chunk of the stream may exceed ANSWER_BYTES. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const MAX_HEAD_BYTES = 4 * 1024 * 1024;
export const MAX_PATH = 512;
const MAX_NAME = 255;
const MAX_DEPTH = 32;

export const encodeUnpack = (order: UnpackOrder): Buffer => encodeRecord(0, order);

export const encodeUnpacked = (reply: UnpackReply): Buffer => {
  if (reply.kind === 'refused') return encodeRecord(0, reply);
  const { kind, parts, last, content } = reply;
  return encodeRecord(
    0,
    { kind, last, parts: parts.map((p) => [p.path, p.bytes, p.executable ? 1 : 0, p.starts ? 1 : 0]) },
    [content],
  );
};

/** Returns why a path within a package may not be written, or undefined when it may. */
export const wrongPath = (path: string): string | undefined => {
  if (path === '' || path.length > MAX_PATH) return `a path of ${path.length} characters, at most ${MAX_PATH}`;
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'an absolute path';

  if (/[\u0000-\u001f\\]/.test(path)) return 'a path with a control character or a backslash';
  const names = path.split('/');
  if (names.length > MAX_DEPTH) return `a path ${names.length} folders deep, at most ${MAX_DEPTH}`;
  if (names.some((name) => name === '..' || name === '.' || name === '')) return 'a path that leaves the package';
  // Only the lock places packages within packages. Lowercased, because some file systems ignore case.
  if (names[0]?.toLowerCase() === 'node_modules') return 'a package of its own';
  return names.some((name) => Buffer.byteLength(name) > MAX_NAME) ? `a name of more than ${MAX_NAME} bytes` : undefined;
};

/** Parses the answer in a record. Throws ProtocolBreach for anything else. */
export const parseUnpacked = ({ json, raw }: RawRecord): UnpackReply => {
  const head = headOf(json);
  const { kind, reason, parts, last } = head;
  if (kind === 'refused' && typeof reason === 'string' && raw.length === 0)
    return { kind, reason: reason.slice(0, 300) };
  if (kind !== 'files' || !Array.isArray(parts) || typeof last !== 'boolean') throw breach('a malformed answer');
  if (parts.length > ANSWER_PARTS) throw breach(`${parts.length} files in one answer`);
  const read = parts.map(partOf);
  const bytes = read.reduce((sum, part) => sum + part.bytes, 0);
  if (bytes !== raw.length) throw breach(`${raw.length} bytes for files of ${bytes} bytes`);
  // The buffers of a record are views, which the next read overwrites.
  return { kind, parts: read, last, content: Buffer.from(raw) };
};

const headOf = (json: Buffer): Readonly<Record<string, unknown>> => {
  if (json.length > MAX_HEAD_BYTES) throw breach(`a head of ${json.length} bytes`);
  const text = json.toString('utf8');
  try {
    const parsed: unknown = nestsTooDeep(text) ? null : JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return parsed as Readonly<Record<string, unknown>>;
  } catch {
    // Refused below.
  }
  throw breach('an answer that is no object');
};

const partOf = (value: unknown): FilePart => {
  const [path, bytes, executable, starts] = Array.isArray(value) ? (value as unknown[]) : [];
  if (typeof path !== 'string' || !Number.isSafeInteger(bytes) || Number(bytes) < 0) throw breach('a malformed file');
  const wrong = wrongPath(path);
  if (wrong !== undefined) throw breach(wrong);
  return { path, bytes: Number(bytes), executable: executable === 1, starts: starts === 1 };
};

const breach = (what: string): ProtocolBreach => new ProtocolBreach(`the unpacking process sent ${what}`);
