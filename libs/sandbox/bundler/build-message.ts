/**
 * Messages between host and build process, as records of libs/framing. The process does not run a
 * component's code, but its parser reads it. So every answer is hostile input.
 */
import { encodeRecord, ProtocolBreach, type RawRecord } from '#libs/framing/records.js';
import { nestsTooDeep } from '#libs/framing/json-text.js';
import { type ComponentFiles } from './component-files.js';

export type EngineKind = 'native' | 'wasm';

/** Packages that a build may use. */
export interface MountedPackages {
  /** Folder with `node_modules`, as the build process sees it. */
  readonly folder: string;
  /** Each specifier and the place of its package below the folder. */
  readonly specifiers: Readonly<Record<string, string>>;
}

/** Message from host to build process. One `load` is followed by one `build`. */
export type BuildOrder =
  | { readonly t: 'load'; readonly engine: EngineKind; readonly file: string; readonly tmp: string }
  /** Raw: the concatenated texts of the files. `files` gives path and byte length of each. */
  | {
      readonly t: 'build';
      readonly entry: string;
      readonly files: readonly (readonly [path: string, bytes: number])[];
      readonly packages: MountedPackages | null;
      readonly bundleBytes: number;
      readonly refusePatterns: boolean;
    };

export interface Problem {
  readonly text: string;
  /** Path of a component's file, or null. With null, line and column are 0. */
  readonly file: string | null;
  readonly line: number;
  readonly column: number;
}

/** Message from build process to host. On the wire, the bundle is the raw part of its record. */
export type BuildReply =
  | { readonly kind: 'loaded' }
  | {
      readonly kind: 'bundle';
      readonly bundle: Buffer;
      readonly inputs: readonly string[];
      /** Places of packages that stay beside the bundle (package-rules.ts). */
      readonly externals: readonly string[];
      /** The first assignments to constants, which throw when they run. */
      readonly assignments: readonly Problem[];
      /** The place of an external package, or of one that it needs, which has machine code. Null for none. */
      readonly native: string | null;
    }
  | { readonly kind: 'wanted'; readonly packages: readonly string[] }
  | {
      readonly kind: 'refused';
      readonly message: string;
      readonly file: string | null;
      readonly missing: string | null;
    }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[]; readonly count: number }
  /** The bundle would be larger than `bundleBytes`. */
  | { readonly kind: 'too_large'; readonly bytes: number }
  | { readonly kind: 'too_many_packages'; readonly count: number }
  /** esbuild itself ended, because it ran out of memory or stack. */
  | { readonly kind: 'engine_ended' };

/** Size limit of an answer without its bundle. */
const MAX_HEAD_BYTES = 2 * 1024 * 1024;
const MAX_TEXT = 4_096;
const MAX_INPUTS = 20_000;
export const MAX_PACKAGES = 500;
export const MAX_SPECIFIER = 1_000;
const MAX_EXTERNALS = 1_000;

export const encodeOrder = (order: BuildOrder, texts: readonly Buffer[] = []): Buffer => encodeRecord(0, order, texts);

export const encodeBuild = (
  { entry, texts }: ComponentFiles,
  settings: {
    readonly packages: MountedPackages | null;
    readonly bundleBytes: number;
    readonly refusePatterns: boolean;
  },
): Buffer => {
  const contents = [...texts].map(([path, text]) => [path, Buffer.from(text)] as const);
  const files = contents.map(([path, content]) => [path, content.length] as const);
  return encodeOrder(
    { t: 'build', entry, files, ...settings },
    contents.map(([, content]) => content),
  );
};

export const encodeReply = (reply: BuildReply): Buffer => {
  if (reply.kind !== 'bundle') return encodeRecord(0, reply);
  const { bundle, ...head } = reply;
  return encodeRecord(0, head, [bundle]);
};

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown, max = MAX_TEXT): value is string => typeof value === 'string' && value.length <= max;
const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const areTexts = (value: unknown, count: number, max: number): value is string[] =>
  Array.isArray(value) && value.length <= count && value.every((text) => isText(text, max));
const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isProblem = (value: unknown): value is Problem =>
  isRecord(value) && isText(value.text) && isTextOrNull(value.file) && isCount(value.line) && isCount(value.column);

const areProblems = (value: unknown): value is Problem[] =>
  Array.isArray(value) && value.length <= 10 && value.every(isProblem);

/** Parses the answer in a record. Throws ProtocolBreach for anything but a valid answer of a build process. */
export const parseReply = (record: RawRecord): BuildReply => {
  const { json, raw } = record;
  if (json.length > MAX_HEAD_BYTES) throw breach(`a head of ${json.length} bytes, at most ${MAX_HEAD_BYTES}`);
  const head = parseHead(json);
  const reply = read(head, raw);
  if (!reply || (reply.kind !== 'bundle' && raw.length > 0)) throw breach('a malformed answer');
  return reply;
};

const parseHead = (json: Buffer): Fields => {
  const text = json.toString('utf8');
  let parsed: unknown;
  try {
    parsed = nestsTooDeep(text) ? undefined : JSON.parse(text);
  } catch {
    throw breach('an answer that is no JSON');
  }
  if (!isRecord(parsed)) throw breach('an answer that is no object');
  return parsed;
};

/** Reads an answer, or returns undefined. Takes each field by name, so unknown fields are dropped. */
const read = (head: Fields, raw: Buffer): BuildReply | undefined => {
  const { kind, inputs, packages, externals, assignments, native, message, file, missing, problems, count, bytes } =
    head;
  switch (kind) {
    case 'loaded':
    case 'engine_ended':
      return { kind };
    case 'bundle':
      // The buffers of a record are views, which the next read overwrites.
      return areTexts(inputs, MAX_INPUTS, MAX_TEXT) &&
        areTexts(externals, MAX_EXTERNALS, MAX_TEXT) &&
        areProblems(assignments) &&
        isTextOrNull(native)
        ? { kind, inputs, externals, assignments, native, bundle: Buffer.from(raw) }
        : undefined;
    case 'wanted':
      return areTexts(packages, MAX_PACKAGES, MAX_SPECIFIER) && packages.length > 0 ? { kind, packages } : undefined;
    case 'refused':
      return isText(message) && isTextOrNull(file) && isTextOrNull(missing)
        ? { kind, message, file, missing }
        : undefined;
    case 'invalid':
      return areProblems(problems) && isCount(count) ? { kind, problems, count } : undefined;
    case 'too_large':
      return isCount(bytes) ? { kind, bytes } : undefined;
    case 'too_many_packages':
      return isCount(count) ? { kind, count } : undefined;
    default:
      return undefined;
  }
};

const breach = (what: string): ProtocolBreach => new ProtocolBreach(`the build process sent ${what}`);
