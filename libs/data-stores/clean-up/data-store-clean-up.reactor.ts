import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type DataStoreRecords } from '../data-store-records.js';
import { type DataStoreEvent } from '../published.js';

/** Removes the records of a deleted data store. A repeat after a crash removes the rest. */
export class DataStoreCleanUpReactor implements Reactor {
  readonly name = 'data-stores.clean-up.v1';
  readonly eventTypes: readonly DataStoreEvent['type'][] = ['DataStoreDeleted'];

  constructor(private readonly records: Pick<DataStoreRecords, 'clear'>) {}

  handle(recorded: RecordedEvent): Promise<void> {
    return this.records.clear(idOf(recorded.stream));
  }
}
