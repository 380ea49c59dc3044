import { isDeepStrictEqual } from 'node:util';
import { delayedAlarm } from '#libs/routing/delayed-alarm.js';
import { type Config } from '#libs/config/index.js';
import {
  type ArchivedBlob,
  type ArchivedSecret,
  type ArchivedState,
  type ArchivedTick,
  counted,
  fileOf,
  type Manifest,
} from './archive-format.js';
import { type ArchiveReader, UnusableArchive } from './archive-reader.js';
import { ArchiveSeal } from './archive-seal.js';
import { makeUpcasters } from '#libs/composition/contexts.js';
import { type MovedEngines } from './export-installation.js';
import { importEvents, ownersIn } from './import-events.js';
import { ImportMark } from './import-mark.js';
import { importRecords } from './import-records.js';
import { importRuns } from './moved-runs.js';
import { rebuildReadModels, type RebuildObserver, type Rebuilt } from '#libs/cluster/rebuild.js';
import { everyReadModel } from '#libs/composition/read-models.js';
import { headOf, laneStateOf } from '#libs/runner/lane-state.js';
import { nameOf } from '#libs/runner/run-journal.js';
import { topicPolicy } from '#libs/composition/topic-policy.js';

export interface ImportOptions extends RebuildObserver {
  readonly engines: MovedEngines;
  /** Configuration of the target, which determines the topics. */
  readonly config: Config;
  readonly archive: ArchiveReader;
  /** Key of the export, 32 bytes (see `sealOf`). */
  readonly secretKey: Buffer;
  readonly assertStopped: () => Promise<void>;
}

export interface Imported {
  /** Number of records of deleted sources and webhooks. */
  readonly leftOut: number;
  readonly rebuilt: readonly Rebuilt[];
}

/** Throws when the archive is sealed with another key. Call it before opening the target. */
export const sealOf = ({ archive, keyCheck }: Manifest, secretKey: Buffer): ArchiveSeal => {
  const seal = new ArchiveSeal(secretKey, archive);
  if (seal.isSealedWith(keyCheck)) return seal;
  throw new Error(
    'SLUICE_SECRET_KEY is not the key that the secrets of this archive are sealed with: give the key of the ' +
      'installation that was exported (its SLUICE_SECRET_KEY, or what <its data dir>/secret.key holds)',
  );
};

/**
 * Creates an installation from an archive. The target must be empty or contain a part of this same import, which then
 * continues. No other process may use the engines at the same time.
 */
export const importInstallation = async (options: ImportOptions): Promise<Imported> => {
  const { engines, config, archive, assertStopped, onProgress } = options;
  const seal = sealOf(archive.manifest, options.secretKey);
  const lines: Lines = (part) => counted(archive.lines(part), part, onProgress);

  // 1. Claim the target for this import.
  await assertStopped();
  const mark = await ImportMark.claim(engines, archive.manifest.archive);

  // 2. Idempotent parts: a repeat finds what it wrote before.
  await importEvents(engines.events, lines('events'));
  if (mark.stage === 'state') {
    await importStores(engines, lines, seal);
    await mark.reach('records');
  }

  // 3. The part that starts over after an interruption.
  let leftOut = 0;
  if (mark.stage === 'records') {
    const owners = await ownersIn(engines.events, makeUpcasters());
    leftOut = await importRecords({ log: engines.log, topics: topicPolicy(config), owners, lines, onProgress });
    await mark.reach('read-models');
  }

  // 4. Read models, which follow from the rest.
  const rebuilt = await rebuildReadModels(engines, everyReadModel(config), options);
  await assertStopped();
  await mark.reach('done');
  return { leftOut, rebuilt };
};

type Lines = ArchiveReader['lines'];

const importStores = async (engines: MovedEngines, lines: Lines, seal: ArchiveSeal): Promise<void> => {
  await importBlobs(engines, lines('blobs'));
  await importSecrets(engines, lines('secrets'), seal);
  await importStates(engines, lines('states'));
  await importTicks(engines, lines('ticks'));
  await importRuns(engines, lines('runs'));
  for await (const batch of batches(lines('due'))) await engines.due.put(batch);
  for await (const batch of batches(lines('delayed'))) {
    await engines.delayed.put(batch);
    await engines.due.put(batch.map(delayedAlarm));
  }
  // Expired records are included, so the time is 0. The limits were already checked in the source installation.
  for await (const record of lines('store-records')) await engines.records.set(record, 0);
};

const importBlobs = async ({ blobs }: MovedEngines, lines: AsyncIterable<ArchivedBlob>): Promise<void> => {
  for await (const { hash, text } of lines) {
    const put = await blobs.put(text);
    if (put !== hash) {
      throw new UnusableArchive(
        `${fileOf('blobs')} is damaged: the text of blob ${hash} has the hash ${put}. Copy the archive again, or export again`,
      );
    }
  }
};

const importSecrets = async (
  { vault }: MovedEngines,
  lines: AsyncIterable<ArchivedSecret>,
  seal: ArchiveSeal,
): Promise<void> => {
  for await (const { ref, workspaceId, sealed } of lines) {
    await vault.put(ref, workspaceId, opened(seal, ref, workspaceId, sealed));
  }
};

const opened = (seal: ArchiveSeal, ref: string, workspaceId: string, sealed: string): string => {
  try {
    return seal.open(ref, workspaceId, sealed);
  } catch (error) {
    throw new UnusableArchive(
      `${fileOf('secrets')} is damaged: secret ${ref} cannot be opened with the key of the archive. Copy the archive again, or export again`,
      { cause: error },
    );
  }
};

const importStates = async ({ journal }: MovedEngines, lines: AsyncIterable<ArchivedState>): Promise<void> => {
  for await (const { lastEventId, parts, inbox, ...key } of lines) {
    const there = await journal.load(key);
    if (there.version > 0) {
      const state = { lastEventId: laneStateOf(there).lastEventId, parts: there.parts };
      if (isSame({ ...state, inbox: await journal.inbox(key) }, { lastEventId, parts, inbox })) continue;
      throw new Error(`the target has another state of ${nameOf(key)}: it was used since. Import into an empty one`);
    }
    // The lane has new records, so its progress starts over.
    const head = headOf({ progress: { through: -1, above: [] }, lastEventId });
    await journal.commit({ ...key, expectedVersion: 0, head, parts, inbox, records: [] });
  }
};

const isSame = (a: unknown, b: unknown): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));

const BATCH = 256;

const importTicks = async ({ ticks }: MovedEngines, lines: AsyncIterable<ArchivedTick>): Promise<void> => {
  for await (const batch of batches(lines)) await ticks.save(new Map(batch.map(({ key, at }) => [key, at])));
};

async function* batches<T>(items: AsyncIterable<T>): AsyncIterable<readonly T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
