import { pause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type DataStoreRecords } from '../data-store-records.js';
import { type DataStoresView } from '../data-stores-view.js';

export interface RecordSweeperOptions {
  readonly records: DataStoreRecords;
  readonly view: Pick<DataStoresView, 'deleted'>;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
  readonly everyMs?: number;
}

const EVERY_MS = 60_000;

/**
 * Removes expired records, and the records of deleted data stores that a run wrote while the deletion took place. The
 * first pass is the start. Any number of processes may sweep.
 */
export const startRecordSweeper = (options: RecordSweeperOptions): { stop(): Promise<void> } => {
  const abort = new AbortController();
  const running = sweep(options, abort.signal);
  return {
    async stop() {
      abort.abort();
      await running;
    },
  };
};

/** Most deletions whose records are looked for again. Older ones were swept in many passes. */
const LATEST_DELETIONS = 100;

const sweep = async (options: RecordSweeperOptions, signal: AbortSignal): Promise<void> => {
  const { records, view, clock, onFailure, everyMs = EVERY_MS } = options;
  let isFirst = true;
  while (!signal.aborted) {
    try {
      const deleted = view.deleted();
      for (const storeId of isFirst ? deleted : deleted.slice(-LATEST_DELETIONS)) await records.clear(storeId);
      isFirst = false;
      const now = clock.now();
      while (!signal.aborted && (await records.expire(now)) > 0);
    } catch (error) {
      onFailure(error);
    }
    await pause(everyMs, signal);
  }
};
