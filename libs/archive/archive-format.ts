import { type DomainEvent, type EventMetadata } from '#libs/kernel/events.js';
import { type DedupeCache } from '#libs/runner/run-journal.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type ScheduledRetry } from '#libs/delivery/retry-schedule.js';

/**
 * A whole installation in a folder: `manifest.json`, written last, and one `<part>.ndjson.gz` for each part, one JSON
 * text a line. Nothing in it depends on the engines that it came from.
 */
export const FORMAT = 1;

export interface ArchivedEvent extends DomainEvent {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly metadata: EventMetadata;
  /** Epoch milliseconds. */
  readonly recordedAt: number;
}

export interface ArchivedBlob {
  readonly hash: string;
  readonly text: string;
}

export interface ArchivedSecret {
  readonly ref: string;
  readonly workspaceId: string;
  /** Base64 (archive-seal.ts). */
  readonly sealed: string;
}

/** What a source carries from run to run; how far it has come in its lane stays behind with the lane. */
export interface ArchivedState {
  readonly source: string;
  readonly dedupe: Readonly<Record<string, DedupeCache>>;
  readonly db: Readonly<Record<string, string>>;
  readonly lastEventId: string;
  /** Oldest first. */
  readonly inbox: readonly string[];
}

export interface ArchivedTick {
  readonly key: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Without its topic, which the policy of the target names. */
export type ArchivedRecord = Omit<LogRecord, 'topic'>;
export type ArchivedRetry = Omit<ScheduledRetry, 'record'> & { readonly record: ArchivedRecord };

export interface ArchivedLines {
  /** In log order. */
  readonly events: ArchivedEvent;
  readonly blobs: ArchivedBlob;
  readonly secrets: ArchivedSecret;
  readonly states: ArchivedState;
  readonly ticks: ArchivedTick;
  readonly retries: ArchivedRetry;
  /** Those that the router had done, and those that it had not. Records of one key are in order, in every part. */
  readonly 'emits-routed': ArchivedRecord;
  readonly 'emits-unrouted': ArchivedRecord;
  /** Not yet done. */
  readonly invocations: ArchivedRecord;
  readonly deliveries: ArchivedRecord;
  readonly attempts: ArchivedRecord;
}

export type PartName = keyof ArchivedLines;

export const PARTS: readonly PartName[] = [
  'events',
  'blobs',
  'secrets',
  'states',
  'ticks',
  'retries',
  'emits-routed',
  'emits-unrouted',
  'invocations',
  'deliveries',
  'attempts',
];

export interface PartSummary {
  readonly records: number;
  /** Of the compressed file. */
  readonly bytes: number;
  /** Of the compressed file, in hex. */
  readonly sha256: string;
}

export interface Manifest {
  readonly format: number;
  /** Unique: an import that was interrupted goes on with the same archive only. */
  readonly archive: string;
  /** ISO 8601. */
  readonly exportedAt: string;
  /** Tells whether a key is the one that the secrets are sealed with. */
  readonly keyCheck: string;
  readonly parts: Readonly<Record<PartName, PartSummary>>;
}

export const MANIFEST = 'manifest.json';
export const fileOf = (part: PartName): string => `${part}.ndjson.gz`;

/** Tells of a long piece of work: which part, and how many records of it are done. */
export type OnProgress = (what: string, records: number) => void;

const EVERY_MS = 1_000;

/** Counts what passes, and tells about once a second. */
export async function* counted<T>(lines: AsyncIterable<T>, what: string, onProgress: OnProgress): AsyncIterable<T> {
  let toldAt = performance.now();
  let records = 0;
  for await (const line of lines) {
    yield line;
    records++;
    if (records % 64 !== 0 || performance.now() - toldAt < EVERY_MS) continue;
    toldAt = performance.now();
    onProgress(what, records);
  }
}
