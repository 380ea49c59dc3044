import { Inject, Injectable } from '@nestjs/common';
import { KeyedMutex } from '#libs/async/serial-queue.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type EventStore, RevisionConflict } from '#libs/kernel/event-store.js';
import { type Position, streamName } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand, load } from '#libs/kernel/handle-command.js';
import { newCommandId, newId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkRoom, RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, EVENT_STORE, HANDLE_COMMAND, READ_MODELS, UPCASTERS } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { checkedName, dataStore, type DataStoreState, type ExistingDataStore } from './domain/data-store.js';
import { dataStoreName, type DataStoreNameState, nameStreamId } from './domain/data-store-name.js';
import { dataStoresProjection } from './read-models/data-stores.projection.js';
import { type DataStoreLimits } from './limits.js';

const MAX_ROUNDS = 20;
/** Age after which a reservation whose data store never got the name counts as left by a crash. */
const ABANDONED_MS = 60_000;

export interface NamedDataStore {
  readonly store: ExistingDataStore;
  /** Number of the last event that is in `store`. */
  readonly revision: number;
  readonly isNew: boolean;
  readonly position?: Position;
}

/**
 * Creates and names data stores. A name is reserved before its store has it, and released after the store has lost it.
 * Each step repeats harmlessly, so the next command that needs such a name completes what a crash interrupted.
 */
@Injectable()
export class DataStoreNames {
  private readonly mutex = new KeyedMutex();

  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RESOURCE_LIMITS) private readonly limits: DataStoreLimits,
  ) {}

  /** Reads the state of a data store from the log. `none` for a data store of another workspace. */
  async stateOf(storeId: string, workspaceId: string): Promise<DataStoreState> {
    return (await this.loaded(storeId, workspaceId)).state;
  }

  private async loaded(
    storeId: string,
    workspaceId: string,
  ): Promise<{ readonly state: DataStoreState; readonly revision: number }> {
    const stream = streamName(dataStore.category, storeId);
    for await (const first of this.store.read(stream, { limit: 1 })) {
      if (first.metadata.workspaceId !== workspaceId) break;
      const { state, revision } = await load(this.store, this.upcasters, dataStore, stream);
      return { state, revision: Number(revision) };
    }
    return { state: { status: 'none' }, revision: -1 };
  }

  /** Finds the data store of this name, or creates it. */
  async named(given: string, context: CommandContext): Promise<NamedDataStore> {
    const name = checkedName(given);
    const id = await this.hold(name, newId('ds', this.clock.now()), context);
    const before = await this.loaded(id, context.workspaceId);
    if (before.state.status === 'exists') return { store: before.state, revision: before.revision, isNew: false };
    const { userId } = context.actor;
    const command = { type: 'create', storeId: id, userId, name, now: this.clock.now() } as const;
    const { state, position, revision } = await this.handle(dataStore, id, command, stepOf(context));
    if (state.status !== 'exists') throw busy(name);
    return { store: state, revision: Number(revision), isNew: true, ...(position === undefined ? {} : { position }) };
  }

  /** Reserves the name for `storeId`. Resolves with the data store that holds it, which may be another. */
  async hold(name: string, storeId: string, context: CommandContext): Promise<string> {
    // A store that exists already only changes its name.
    const isNew = (await this.stateOf(storeId, context.workspaceId)).status !== 'exists';
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const held = await this.stateOfName(name, context);
      if (!held) {
        if (isNew) await this.checkRoom(context.workspaceId);
        await this.change('reserve', name, storeId, context);
        continue;
      }
      if (held.storeId === storeId) return storeId;
      const holder = await this.stateOf(held.storeId, context.workspaceId);
      if (holder.status === 'exists' && holder.name === name) return held.storeId;
      // A creation completes what another one began. No other command can, because no data store has the name yet.
      if (holder.status === 'none' && isNew) return held.storeId;
      // The store is being renamed, or its renaming was interrupted.
      if (holder.status !== 'deleted' && this.clock.now() - held.reservedAt < ABANDONED_MS) throw busy(name);
      await this.change('release', name, held.storeId, context);
    }
    throw busy(name);
  }

  release(name: string, storeId: string, context: CommandContext): Promise<void> {
    return this.change('release', name, storeId, context);
  }

  private async stateOfName(name: string, { workspaceId }: CommandContext): Promise<DataStoreNameState> {
    const stream = streamName(dataStoreName.category, nameStreamId(workspaceId, name));
    return (await load(this.store, this.upcasters, dataStoreName, stream)).state;
  }

  private change(type: 'reserve' | 'release', name: string, storeId: string, context: CommandContext): Promise<void> {
    const id = nameStreamId(context.workspaceId, name);
    return this.mutex.run(id, async () => {
      for (let round = 1; ; round++) {
        try {
          const command = { type, name, storeId, now: this.clock.now() };
          await this.handle(dataStoreName, id, command, stepOf(context));
          return;
        } catch (error) {
          if (!(error instanceof RevisionConflict) || round >= MAX_ROUNDS) throw error;
        }
      }
    });
  }

  private async checkRoom(workspaceId: string): Promise<void> {
    const limit = this.limits.dataStoresPerWorkspace;
    const counted = { what: 'data stores', owner: 'workspace', limit } as const;
    await checkRoom(this.readModels, dataStoresProjection.schema, { workspaceId }, counted);
  }
}

/** Context for one of several steps of a request, each a command of its own. */
const stepOf = (context: CommandContext): CommandContext => ({
  ...context,
  commandId: newCommandId(),
  causationId: context.commandId,
});

const busy = (name: string): DomainError =>
  new DomainError('data_store.busy', `the name ${JSON.stringify(name)} is being given or released: try again`, {
    name,
  });

export const nameTaken = (name: string, storeId: string): DomainError =>
  new DomainError(
    'data_store.name_taken',
    `data store ${storeId} has the name ${JSON.stringify(name)}: use it, or choose another name`,
    { field: 'name', id: storeId },
  );
