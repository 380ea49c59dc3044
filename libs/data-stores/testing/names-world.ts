import { type EventStore } from '#libs/kernel/event-store.js';
import { START } from '#libs/kernel/events.js';
import { type CommandContext, commandHandler, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { SteppingClock } from '#libs/kernel/testing/control-plane.js';
import { InMemoryEventStore } from '#libs/kernel/testing/in-memory-event-store.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { CreateDataStore, CreateDataStoreHandler } from '../create-data-store/create-data-store.handler.js';
import { DataStoreNames, type NamedDataStore } from '../data-store-names.js';
import { DataStoresView } from '../data-stores-view.js';
import { DeleteDataStore, DeleteDataStoreHandler } from '../delete-data-store/delete-data-store.handler.js';
import { dataStoresProjection } from '../read-models/data-stores.projection.js';
import { RenameDataStore, RenameDataStoreHandler } from '../rename-data-store/rename-data-store.handler.js';
import { StoredDataStoreCatalog } from '../stored-data-store-catalog.js';
import { DATA_STORE_LIMITS } from '../limits.js';

export const contextOf = (workspaceId = 'o_1'): CommandContext => {
  const commandId = newCommandId();
  const actor = { userId: 'u_1', apiKeyId: 'key_1' };
  return { commandId, correlationId: commandId, causationId: commandId, actor, workspaceId };
};

/** What outlives a process. */
export class DataStoreDisk {
  readonly clock = new SteppingClock();
  readonly store = new InMemoryEventStore(this.clock);
  readonly readModels = new InMemoryReadModels();

  async view(): Promise<DataStoresView> {
    const view = new DataStoresView();
    for (const event of await this.store.readAll(START, 10_000)) view.apply(event);
    return view;
  }
}

/** The process dies at its n-th write: before it, or after it and before the answer. */
export interface Death {
  readonly at: number;
  readonly isWritten: boolean;
}

/** One process with data stores over a disk. A second one over that disk is a restart, or a neighbour. */
export class DataStoreProcess {
  writes = 0;
  readonly names: DataStoreNames;
  readonly catalog: StoredDataStoreCatalog;
  private readonly handle: HandleCommand;

  private constructor(
    private readonly disk: DataStoreDisk,
    death?: Death,
  ) {
    const store = death ? dyingStore(disk.store, death, this) : countedStore(disk.store, this);
    const upcasters = new Upcasters();
    this.handle = commandHandler({ store, upcasters });
    const { readModels, clock } = disk;
    this.names = new DataStoreNames(this.handle, store, upcasters, readModels, clock, DATA_STORE_LIMITS);
    this.catalog = new StoredDataStoreCatalog(this.names);
  }

  static async start(disk: DataStoreDisk, death?: Death): Promise<DataStoreProcess> {
    await disk.readModels.register(dataStoresProjection.schema);
    return new DataStoreProcess(disk, death);
  }

  create(name: string): Promise<NamedDataStore> {
    return new CreateDataStoreHandler(this.names).execute(new CreateDataStore(name, contextOf()));
  }

  rename(id: string, name: string): Promise<Omit<NamedDataStore, 'isNew'>> {
    const handler = new RenameDataStoreHandler(this.names, this.handle, this.disk.clock);
    return handler.execute(new RenameDataStore(id, name, contextOf()));
  }

  delete(id: string): Promise<unknown> {
    const handler = new DeleteDataStoreHandler(this.names, this.handle, this.disk.clock);
    return handler.execute(new DeleteDataStore(id, contextOf()));
  }
}

const countedStore = (store: InMemoryEventStore, counter: { writes: number }): EventStore =>
  appendingBy(store, (append) => {
    counter.writes++;
    return append();
  });

const dyingStore = (store: InMemoryEventStore, { at, isWritten }: Death, counter: { writes: number }): EventStore =>
  appendingBy(store, async (append) => {
    const place = counter.writes++;
    if (place < at) return append();
    if (place === at && isWritten) await append();
    throw new Error('the process has died');
  });

type Append<T> = (append: () => Promise<T>) => Promise<T>;

const appendingBy = (store: InMemoryEventStore, by: Append<Awaited<ReturnType<EventStore['append']>>>): EventStore => ({
  append: (...args) => by(() => store.append(...args)),
  read: (...args) => store.read(...args),
  readAll: (...args) => store.readAll(...args),
  lastPosition: () => store.lastPosition(),
  subscribe: (...args) => store.subscribe(...args),
});
