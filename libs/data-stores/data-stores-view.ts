import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type DataStoreEvent } from './published.js';

/** Keeps in memory which workspace owns each data store, for the calls of runs. */
export class DataStoresView implements LiveView {
  private readonly owners = new Map<string, string>();
  private readonly gone = new Set<string>();

  /** Workspace of an existing data store. */
  ownerOf(storeId: string): string | undefined {
    return this.owners.get(storeId);
  }

  /** Ids of deleted data stores. */
  deleted(): readonly string[] {
    return [...this.gone];
  }

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & DataStoreEvent;
    if (event.type === 'DataStoreCreated') this.owners.set(idOf(event.stream), event.metadata.workspaceId);
    else if (event.type === 'DataStoreDeleted') {
      this.owners.delete(idOf(event.stream));
      this.gone.add(idOf(event.stream));
    }
  }
}
