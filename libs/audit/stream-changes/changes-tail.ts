import { type EventStore } from '#libs/kernel/event-store.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type StoredRecord, type Tail } from '#libs/stream-log/stream-log.js';
import { changeOf, CHANGES } from './change-source.js';

/** Reads the events of resources of these categories as records of streams, from now on until it is closed. */
export const tailChanges = async (
  events: Pick<EventStore, 'lastPosition' | 'subscribe'>,
  categories: readonly string[],
  onRecords: (records: readonly StoredRecord[]) => void,
): Promise<Tail> => {
  const abort = new AbortController();
  const batches = events.subscribe(await events.lastPosition(), abort.signal);
  const isShown = ({ stream }: RecordedEvent): boolean => categories.includes(stream.slice(0, stream.indexOf('-')));
  const read = async (): Promise<void> => {
    for await (const batch of batches) onRecords(batch.events.filter(isShown).map(recordOf));
  };
  // The reader of the tables in memory meets the same failure, and ends the process.
  const reading = read().catch(() => undefined);
  return {
    close: async () => {
      abort.abort();
      await reading;
    },
  };
};

const recordOf = (event: RecordedEvent, offset: number): StoredRecord => ({
  topic: CHANGES,
  lane: CHANGES,
  key: idOf(event.stream),
  headers: { workspace: event.metadata.workspaceId, position: event.position },
  value: JSON.stringify(changeOf(event.stream, event.type, Number(event.revision))),
  offset,
  timestamp: event.recordedAt,
  size: 0,
});
