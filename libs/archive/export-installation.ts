import { type DueEntry } from '#libs/due/due-store.js';
import { randomUUID } from 'node:crypto';
import { eventHistory } from '#libs/kernel/event-history.js';
import {
  type ArchivedBlob,
  type ArchivedEvent,
  type ArchivedLines,
  type ArchivedSecret,
  type ArchivedState,
  type ArchivedTick,
  counted,
  type Manifest,
  type OnProgress,
  type PartName,
  PARTS,
} from './archive-format.js';
import { ArchiveSeal } from './archive-seal.js';
import { ArchiveWriter } from './archive-writer.js';
import { type Engines } from '#libs/composition/engines.js';
import { laneStateOf } from '#libs/runner/lane-state.js';
import { completeStepDbs, stepDbs } from '#libs/runner/workflow/step-dbs.js';
import { loadRuns } from '#libs/runner/workflow/workflow-state.js';
import {
  attempts,
  deliveriesToDo,
  emitsRouted,
  emitsUnrouted,
  invocationsToDo,
  messagesToSend,
} from './export-records.js';
import { completeHistory, wholeRuns } from './moved-runs.js';

/** Engines whose data make up an installation. Read models are rebuilt from it; usage counters are not moved. */
export type MovedEngines = Pick<
  Engines,
  | 'events'
  | 'log'
  | 'journal'
  | 'runHistory'
  | 'due'
  | 'delayed'
  | 'ticks'
  | 'vault'
  | 'blobs'
  | 'records'
  | 'readModels'
>;

export interface ExportOptions {
  readonly engines: Omit<MovedEngines, 'readModels'>;
  /** A new or empty folder. */
  readonly folder: string;
  /** Key of 32 bytes; the import needs the same key. */
  readonly secretKey: Buffer;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Called before the first part is read and after the last; rejects when a process still runs. */
  readonly assertStopped: () => Promise<void>;
  readonly onProgress: OnProgress;
}

/** Writes a whole installation to a folder. No other process may use the engines at the same time. */
export const exportInstallation = async (options: ExportOptions): Promise<Manifest> => {
  const { engines, folder, secretKey, now, assertStopped, onProgress } = options;
  await assertStopped();
  const writer = await ArchiveWriter.create(folder);
  const archive = randomUUID();
  const seal = new ArchiveSeal(secretKey, archive);
  const parts = linesOf(engines, seal);
  const write = async <P extends PartName>(part: P): Promise<void> => {
    const { records } = await writer.part(part, counted(parts[part](), part, onProgress));
    onProgress(part, records);
  };
  // States come first, because a journal may publish emits after its commit. Loading a state completes that.
  await write('states');
  await completeHistory(engines);
  for (const part of PARTS) if (part !== 'states') await write(part);
  await assertStopped();
  return writer.finish(archive, seal.check, new Date(now).toISOString());
};

type Lines = { readonly [P in PartName]: () => AsyncIterable<ArchivedLines[P]> };

const linesOf = (engines: ExportOptions['engines'], seal: ArchiveSeal): Lines => ({
  events: () => events(engines),
  blobs: () => blobs(engines),
  secrets: () => secrets(engines, seal),
  states: () => states(engines),
  ticks: () => ticks(engines),
  due: () => underived(engines),
  delayed: () => engines.delayed.all(),
  runs: () => wholeRuns(engines),
  'store-records': () => engines.records.all(),
  'emits-routed': () => emitsRouted(engines.log),
  'emits-unrouted': () => emitsUnrouted(engines.log),
  invocations: () => invocationsToDo(engines),
  deliveries: () => deliveriesToDo(engines.log),
  attempts: () => attempts(engines.log),
  messages: () => messagesToSend(engines.log),
});

async function* events({ events: store }: Pick<Engines, 'events'>): AsyncIterable<ArchivedEvent> {
  for await (const page of eventHistory(store)) {
    for (const { stream, revision, id, type, data, metadata, recordedAt } of page) {
      yield { stream, revision: Number(revision), id, type, data, metadata, recordedAt };
    }
  }
}

async function* blobs({ blobs: store }: Pick<Engines, 'blobs'>): AsyncIterable<ArchivedBlob> {
  for await (const hash of store.hashes()) {
    const text = await store.get(hash);
    if (text !== undefined) yield { hash, text };
  }
}

async function* secrets({ vault }: Pick<Engines, 'vault'>, seal: ArchiveSeal): AsyncIterable<ArchivedSecret> {
  for await (const { ref, workspaceId, plaintext } of vault.entries()) {
    yield { ref, workspaceId, sealed: seal.seal(ref, workspaceId, plaintext) };
  }
}

async function* states({ journal }: Pick<Engines, 'journal'>): AsyncIterable<ArchivedState> {
  for await (const executable of journal.executables()) {
    const stored = await journal.load({ executable });
    const { lastEventId } = laneStateOf(stored);
    yield { executable, lastEventId, parts: stored.parts, inbox: await journal.inbox({ executable }) };
    const { marked } = await loadRuns(executable, journal, laneStateOf(stored));
    await completeStepDbs(executable, journal, marked);
    for await (const key of stepDbs(executable, journal)) {
      const { parts } = await journal.load(key);
      yield { ...key, lastEventId: '', parts, inbox: await journal.inbox(key) };
    }
  }
}

async function* ticks({ ticks: store }: Pick<Engines, 'ticks'>): AsyncIterable<ArchivedTick> {
  for (const [key, at] of await store.load()) yield { key, at };
}

/** An import creates the alarms of waiting events from these. */
async function* underived({ due }: Pick<Engines, 'due'>): AsyncIterable<DueEntry> {
  for await (const entry of due.all()) if (entry.kind !== 'delayed') yield entry;
}
