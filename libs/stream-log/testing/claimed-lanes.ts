import { KeyedMutex } from '#libs/async/serial-queue.js';
import { type CollectionSchema, type Doc, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { LaneLost, type ClaimedLane, type LanesBatch, type LaneWrites, writesOf } from '../lane-writes.js';

/** Lanes that the processes of a spec share, with claims in memory. */
export class ClaimedLanes implements LaneWrites {
  private last = 0;
  private readonly claims = new Map<string, number>();
  private readonly turns = new KeyedMutex();

  constructor(private readonly store: Pick<ReadModelStore, 'apply' | 'getMany'>) {}

  async claimLanes<D extends Doc>(
    schema: CollectionSchema,
    generation: number,
    ids: readonly string[],
  ): Promise<readonly ClaimedLane<D>[]> {
    return this.turns.run(keyOf(schema, generation), async () => {
      const stored = await this.stored<D>(schema, generation, ids);
      const claim = ++this.last;
      for (const id of ids) this.claims.set(keyOf(schema, generation, id), claim);
      return ids.map((id, i) => ({ id, claim, progress: stored[i] }));
    });
  }

  async applyLanes(batch: LanesBatch): Promise<void> {
    const { schema, generation, parts } = batch;
    await this.turns.run(keyOf(schema, generation), async () => {
      const ids = parts.map(({ id }) => id);
      await this.stored(schema, generation, ids);
      if (parts.some(({ id, claim }) => this.claims.get(keyOf(schema, generation, id)) !== claim))
        throw new LaneLost(schema.name, ids);
      await this.store.apply({ schema, generation, expected: null, next: null, writes: writesOf(batch) });
    });
  }

  /** Rejects when the generation was replaced. */
  private async stored<D extends Doc>(schema: CollectionSchema, generation: number, ids: readonly string[]) {
    return this.store.getMany<D>(schema, ids, generation).catch((error: unknown) => {
      throw Object.assign(new LaneLost(schema.name, ids), { cause: error });
    });
  }
}

const keyOf = ({ name }: CollectionSchema, generation: number, id = ''): string => `${name}#${generation}#${id}`;
