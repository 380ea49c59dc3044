import { countedAfter } from '#libs/kernel/counted-checkpoint.js';
import {
  CheckpointConflict,
  type CollectionSchema,
  type Doc,
  type ReadModelStore,
} from '#libs/kernel/read-model-store.js';

/** Most attempts to add a key, because several processes may add keys at once. */
const ATTEMPTS = 10;

interface ForgottenKey extends Doc {
  readonly key: string;
}

/**
 * Keys whose documents were deleted for good. The log or a process may still have records of them. The keys are stored
 * beside the read model, so that a rebuild does not restore the documents.
 */
export class ForgottenKeys {
  private readonly schema: CollectionSchema;
  private generation: number | undefined;

  constructor(
    private readonly readModels: ReadModelStore,
    { name }: CollectionSchema,
  ) {
    this.schema = { name: `${name}.forgotten`, indexed: [], sort: 'key' };
  }

  /** Idempotent. */
  async add(key: string): Promise<void> {
    const { schema, readModels } = this;
    const doc: ForgottenKey = { id: key, key };
    for (let attempt = 1; ; attempt++) {
      const { active: generation, checkpoint: expected } = await readModels.register(schema);
      const next = countedAfter(expected);
      try {
        await readModels.apply({ schema, generation, expected, next, writes: [{ op: 'put', doc }] });
        return;
      } catch (error) {
        if (!(error instanceof CheckpointConflict) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async among(keys: readonly string[]): Promise<ReadonlySet<string>> {
    if (keys.length === 0) return new Set();
    this.generation ??= (await this.readModels.register(this.schema)).active;
    const stored = await this.readModels.getMany<ForgottenKey>(this.schema, keys, this.generation);
    return new Set(stored.flatMap((doc) => (doc ? [doc.key] : [])));
  }
}
