import { type RunCommit, type StoredState } from '#libs/runner/run-journal.js';
import { type InboxChange } from './run-inbox.js';

/** The records of one commit: JSON text, or the number of `outbox_parts` documents that hold them under this token. */
export type OutboxEntry = string | { readonly token: string; readonly parts: number };

/** One state, and records not yet known to be in the log. A commit is one write to it. */
export interface RunDocument {
  /** Name of the state. */
  readonly _id: string;
  readonly version: number;
  /** Id of the last commit. After a lost answer it shows whether the write was made. */
  readonly commitId: string;
  readonly head: string;
  /** By encoded name. */
  readonly parts?: Readonly<Record<string, string>>;
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

export const stateOf = (document: RunDocument | null): StoredState => ({
  version: document?.version ?? 0,
  head: document?.head ?? '',
  parts: Object.fromEntries(Object.entries(document?.parts ?? {}).map(([field, text]) => [keyOf(field), text])),
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
  const parts = Object.entries(commit.parts);
  const unset = [
    ...parts.filter(([, text]) => text === null).map(([name]) => `parts.${fieldOf(name)}`),
    ...inbox.dropped.map((chunk) => `inbox.${chunk}`),
    ...published.map((seq) => `outbox.${seq}`),
  ];
  if (entry === undefined && drained) unset.push('outboxMark');
  return {
    version,
    commitId,
    head: commit.head,
    unset,
    parts: Object.fromEntries(parts.flatMap(([name, text]) => (text === null ? [] : [[fieldOf(name), text]]))),
    inbox: Object.fromEntries(inbox.chunks),
    ...(entry !== undefined && { outbox: { [version]: entry }, outboxMark: commitId }),
  };
};

/** The document of a first commit. */
export const newDocument = (name: string, { unset: _, ...fields }: RunChange): RunDocument => ({
  _id: name,
  ...fields,
});

interface RunUpdate {
  readonly $set: Readonly<Record<string, unknown>>;
  readonly $unset?: Readonly<Record<string, ''>>;
}

/** The update that applies the change to an existing document. */
export const updateOf = ({ parts, inbox, outbox, unset, ...fields }: RunChange): RunUpdate => {
  const $set: Record<string, unknown> = fields;
  for (const [name, map] of Object.entries({ parts, inbox, outbox })) {
    for (const [field, value] of Object.entries(map ?? {})) $set[`${name}.${field}`] = value;
  }
  return { $set, ...(unset.length > 0 && { $unset: unsetOf(unset) }) };
};

export const unsetOf = (paths: readonly string[]): Readonly<Record<string, ''>> =>
  Object.fromEntries(paths.map((path) => [path, '']));
