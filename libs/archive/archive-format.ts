import { type OwnedRecord } from '#libs/data-stores/data-store-records.js';
import { type DomainEvent, type EventMetadata } from '#libs/kernel/events.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type DelayedEvent } from '#libs/stream-log/delayed-events.js';
import { type DueEntry } from '#libs/due/due-store.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';

/**
 * Format of an installation in a folder: `manifest.json`, written last, and one `<part>.ndjson.gz` per part with one
 * JSON text per line. Nothing in it depends on the engines that it came from.
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
  /** Sealed secret in base64 (archive-seal.ts). */
  readonly sealed: string;
}

/** State that a source or workflow keeps between runs. Its progress in the lane is not exported. */
export interface ArchivedState {
  readonly executable: string;
  /** Id of a step of a workflow, whose `$.service.db` this is. Absent for the state of the executable itself. */
  readonly run?: string;
  readonly lastEventId: string;
  readonly parts: Readonly<Record<string, string>>;
  /** Ids of handled invocations, oldest first. */
  readonly inbox: readonly string[];
}

export interface ArchivedTick {
  readonly key: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A record without its topic, which the target's policy determines. */
export type ArchivedRecord = Omit<LogRecord, 'topic'>;

export interface ArchivedLines {
  /** Events in the order of the event log. */
  readonly events: ArchivedEvent;
  readonly blobs: ArchivedBlob;
  readonly secrets: ArchivedSecret;
  readonly states: ArchivedState;
  readonly ticks: ArchivedTick;
  /** Entries of the due store that do not follow from other parts of the archive. */
  readonly due: DueEntry;
  /** Events that wait. */
  readonly delayed: DelayedEvent;
  /** Runs of workflows, each as one change with its whole state. */
  readonly runs: RunChange;
  /** Records of data stores. */
  readonly 'store-records': OwnedRecord;
  /** Routed and unrouted emits. Records of one key are in order in every part. */
  readonly 'emits-routed': ArchivedRecord;
  readonly 'emits-unrouted': ArchivedRecord;
  /** Unfinished records. */
  readonly invocations: ArchivedRecord;
  readonly deliveries: ArchivedRecord;
  readonly attempts: ArchivedRecord;
  /** Messages of workflows that did not go out. */
  readonly messages: ArchivedRecord;
}

export type PartName = keyof ArchivedLines;

export const PARTS: readonly PartName[] = [
  'events',
  'blobs',
  'secrets',
  'states',
  'ticks',
  'due',
  'delayed',
  'runs',
  'store-records',
  'emits-routed',
  'emits-unrouted',
  'invocations',
  'deliveries',
  'attempts',
  'messages',
];

export interface PartSummary {
  readonly records: number;
  /** Size of the compressed file. */
  readonly bytes: number;
  /** SHA-256 of the compressed file, in hex. */
  readonly sha256: string;
}

export interface Manifest {
  readonly format: number;
  /** Unique id, because an interrupted import continues with the same archive only. */
  readonly archive: string;
  /** ISO 8601. */
  readonly exportedAt: string;
  /** Shows whether a key is the one that sealed the secrets. */
  readonly keyCheck: string;
  readonly parts: Readonly<Record<PartName, PartSummary>>;
}

export const MANIFEST = 'manifest.json';
export const fileOf = (part: PartName): string => `${part}.ndjson.gz`;

/** Reports progress: the part, and the number of its finished records. */
export type OnProgress = (what: string, records: number) => void;

const EVERY_MS = 1_000;

/** Counts the lines that pass, and reports about once a second. */
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
