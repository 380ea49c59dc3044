import { KeyedMutex } from '#libs/async/serial-queue.js';
import {
  LaneLost,
  type Checkpoint,
  type ClaimedLane,
  type CollectionSchema,
  type Doc,
  type LanesBatch,
  type ReadModelStore,
  type ReadModelWrite,
} from './read-model-store.js';

export interface OneProcessStore extends Pick<ReadModelStore, 'apply' | 'getMany'> {
  /** Returns the stored checkpoint, undefined when the generation does not exist. */
  checkpointOf(schema: CollectionSchema, generation: number): Checkpoint | null | undefined;
}

/**
 * Claims of lanes for a store that only one process writes. They are kept in memory. A batch of lanes is one batch of the
 * store, with a checkpoint that counts them.
 */
export class LanesOfOneProcess {
  private last = 0;
  private readonly claims = new Map<string, number>();
  private readonly turns = new KeyedMutex();

  constructor(private readonly store: OneProcessStore) {}

  async claim<D extends Doc>(
    schema: CollectionSchema,
    generation: number,
    ids: readonly string[],
  ): Promise<readonly ClaimedLane<D>[]> {
    return this.turns.run(keyOf(schema, generation), async () => {
      if (this.store.checkpointOf(schema, generation) === undefined) throw new LaneLost(schema.name, ids);
      const claim = ++this.last;
      for (const id of ids) this.claims.set(keyOf(schema, generation, id), claim);
      const stored = await this.store.getMany<D>(schema, ids, generation);
      return ids.map((id, i) => ({ id, claim, progress: stored[i] }));
    });
  }

  async apply({ schema, generation, parts, trims }: LanesBatch): Promise<void> {
    await this.turns.run(keyOf(schema, generation), async () => {
      const lost = parts.filter(({ id, claim }) => this.claims.get(keyOf(schema, generation, id)) !== claim);
      const expected = this.store.checkpointOf(schema, generation);
      if (lost.length > 0 || expected === undefined) {
        throw new LaneLost(
          schema.name,
          lost.map(({ id }) => id),
        );
      }
      const writes: ReadModelWrite[] = [...parts.flatMap((part) => part.writes), ...trims];
      for (const { id, progress } of parts) {
        if (progress === 'removed') writes.push({ op: 'delete', id });
        else if (progress !== 'unchanged') writes.push({ op: 'put', doc: progress });
      }
      await this.store.apply({ schema, generation, expected, next: countedAfter(expected), writes });
    });
  }
}

/** Next checkpoint of a read model whose batches are counted. Its order as text is that of the numbers. */
export const countedAfter = (checkpoint: Checkpoint | null): Checkpoint => counted(Number(checkpoint ?? '0') + 1);
export const counted = (batches: number): Checkpoint => String(batches).padStart(16, '0');

const keyOf = ({ name }: CollectionSchema, generation: number, id = ''): string => `${name}#${generation}#${id}`;
