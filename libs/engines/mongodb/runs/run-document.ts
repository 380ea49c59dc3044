import { type DedupeCache, type EmitProgress, type RunCommit, type SourceState } from '#libs/runner/run-journal.js';
import { type LaneOrigin } from '#libs/stream-log/lane-origin.js';
import { type InboxChange } from './run-inbox.js';

/** The records of one commit: JSON text, or the number of `outbox_parts` documents that hold them under this token. */
export type OutboxEntry = string | { readonly token: string; readonly parts: number };

/** State that a source carries between runs, and emits not yet known to be in the log. A commit is one write to it. */
export interface RunDocument {
  readonly _id: string;
  readonly version: number;
  /** Id of the last commit. After a lost answer it shows whether the write was made. */
  readonly commitId: string;
  readonly through: number;
  readonly above: readonly number[];
  /** Origin of the newest finished invocation. */
  readonly origin?: LaneOrigin;
  readonly lastEventId: string;
  /** JSON text by encoded channel. */
  readonly dedupe?: Readonly<Record<string, string>>;
  /** Keyed by the encoded key. */
  readonly db?: Readonly<Record<string, string>>;
  /** Keyed by the encoded emitter and subscription. */
  readonly heard?: Readonly<Record<string, EmitProgress>>;
  /** By chunk number, see RunInbox. */
  readonly inbox?: Readonly<Record<string, readonly string[]>>;
  /** Entries by the version that the commit made. */
  readonly outbox?: Readonly<Record<string, OutboxEntry>>;
  /** Present while the outbox may have records, with a new text after each change. The sweep reads it. */
  readonly outboxMark?: string;
}

/** The fields that a commit changes. Map entries not named here stay as they are. */
export interface RunChange extends Omit<RunDocument, '_id'> {
  /** Dotted paths. */
  readonly unset: readonly string[];
}

/** Encodes any text as a field name: not empty, without dot, dollar, NUL or lone surrogate (which BSON cannot hold). */
export const fieldOf = (key: string): string =>
  `k${key.replace(/[%.$\0]|\p{Cs}/gu, (char) => `%${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}`;
export const keyOf = (field: string): string =>
  field.slice(1).replace(/%([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));

export const stateOf = (document: RunDocument | null): SourceState => ({
  version: document?.version ?? 0,
  progress: {
    through: document?.through ?? -1,
    above: document?.above ?? [],
    ...(document?.origin && { origin: document.origin }),
  },
  dedupe: Object.fromEntries(
    Object.entries(document?.dedupe ?? {}).map(([field, text]) => [keyOf(field), JSON.parse(text) as DedupeCache]),
  ),
  db: Object.fromEntries(Object.entries(document?.db ?? {}).map(([field, text]) => [keyOf(field), text])),
  heard: Object.fromEntries(Object.entries(document?.heard ?? {}).map(([field, progress]) => [keyOf(field), progress])),
  lastEventId: document?.lastEventId ?? '',
});

export interface OutboxChange {
  /** Entry of this commit; undefined when it has no records. */
  readonly entry: OutboxEntry | undefined;
  /** Versions whose records are in the log. */
  readonly published: readonly number[];
  /** Whether the outbox is empty once the published ones are removed. */
  readonly drained: boolean;
}

export const changeOf = (
  commit: RunCommit,
  commitId: string,
  inbox: InboxChange,
  { entry, published, drained }: OutboxChange,
): RunChange => {
  const version = commit.expectedVersion + 1;
  const { through, above, origin } = commit.progress;
  const changes = Object.entries(commit.dbChanges);
  const caches = Object.entries(commit.dedupe);
  const heard = Object.entries(commit.heard ?? {});
  const unset = [
    ...caches.filter(([, cache]) => cache === null).map(([channel]) => `dedupe.${fieldOf(channel)}`),
    ...changes.filter(([, text]) => text === null).map(([key]) => `db.${fieldOf(key)}`),
    ...heard.filter(([, progress]) => progress === null).map(([key]) => `heard.${fieldOf(key)}`),
    ...inbox.dropped.map((chunk) => `inbox.${chunk}`),
    ...published.map((seq) => `outbox.${seq}`),
  ];
  if (entry === undefined && drained) unset.push('outboxMark');
  return {
    version,
    commitId,
    through,
    above,
    ...(origin && { origin }),
    lastEventId: commit.lastEventId,
    unset,
    dedupe: Object.fromEntries(
      caches.flatMap(([channel, cache]) => (cache === null ? [] : [[fieldOf(channel), JSON.stringify(cache)]])),
    ),
    db: Object.fromEntries(changes.flatMap(([key, text]) => (text === null ? [] : [[fieldOf(key), text]]))),
    heard: Object.fromEntries(
      heard.flatMap(([key, progress]) => (progress === null ? [] : [[fieldOf(key), progress]])),
    ),
    inbox: Object.fromEntries(inbox.chunks),
    ...(entry !== undefined && { outbox: { [version]: entry }, outboxMark: commitId }),
  };
};

/** The document of a first commit. */
export const newDocument = (sourceId: string, { unset: _, ...fields }: RunChange): RunDocument => ({
  _id: sourceId,
  ...fields,
});

interface RunUpdate {
  readonly $set: Readonly<Record<string, unknown>>;
  readonly $unset?: Readonly<Record<string, ''>>;
}

/** The update that applies the change to an existing document. */
export const updateOf = ({ dedupe, db, heard, inbox, outbox, unset, ...fields }: RunChange): RunUpdate => {
  const $set: Record<string, unknown> = fields;
  for (const [name, map] of Object.entries({ dedupe, db, heard, inbox, outbox })) {
    for (const [field, value] of Object.entries(map ?? {})) $set[`${name}.${field}`] = value;
  }
  return { $set, ...(unset.length > 0 && { $unset: unsetOf(unset) }) };
};

export const unsetOf = (paths: readonly string[]): Readonly<Record<string, ''>> =>
  Object.fromEntries(paths.map((path) => [path, '']));
