import { type EventStore } from './event-store.js';
import { eventHistory } from './event-history.js';
import { START, type Position, type RecordedEvent } from './events.js';
import { type Projection, type ProjectorStatus } from './projection.js';
import { type Doc, type ReadModelStore, type ReadModelWrite } from './read-model-store.js';
import { type Upcasters } from './upcasting.js';
import { asError } from './error-message.js';

export interface ProjectorOptions {
  readonly projection: Projection;
  readonly events: EventStore;
  readonly readModels: ReadModelStore;
  readonly upcasters: Upcasters;
  /** Called after each batch, once the read model contains it. */
  readonly onApplied: () => void;
  /** Called once when the projector stops for good, at a poison event or because of a second owner. */
  readonly onFailure: (error: Error) => void;
}

/** Keeps one read model up to date with the event log. Stops and reports an event that its projection cannot apply. */
export class Projector {
  private readonly abort = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private applied: Position | null = null;
  private caughtUp = false;
  private failure: Error | undefined;

  constructor(private readonly options: ProjectorOptions) {}

  async start(): Promise<void> {
    const { projection, readModels } = this.options;
    const { active, checkpoint } = await readModels.register(projection.schema);
    this.applied = checkpoint;
    this.running = this.follow(active).catch((error: unknown) => {
      this.failure = asError(error);
      this.options.onFailure(this.failure);
    });
  }

  position(): Position {
    return this.applied ?? START;
  }

  status(): ProjectorStatus {
    const { name } = this.options.projection;
    const base = { name, caughtUp: this.caughtUp, checkpoint: this.applied };
    return this.failure ? { ...base, failure: this.failure.message } : base;
  }

  async stop(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  private async follow(generation: number): Promise<void> {
    const { events, onApplied } = this.options;
    for await (const batch of events.subscribe(this.position(), this.abort.signal)) {
      if (batch.events.length > 0) {
        await applyEvents(this.options, batch.events, generation, this.applied, batch.position);
        this.applied = batch.position;
      }
      this.caughtUp = batch.caughtUp;
      onApplied();
    }
  }
}

/** Thrown for an event that the projection cannot apply. A retry does not help. */
export class PoisonEvent extends Error {
  constructor(projection: string, { type, position, stream, revision }: RecordedEvent, cause: unknown) {
    const event = `${type} at position ${position} (${stream}@${revision})`;
    super(`projection ${projection} cannot apply ${event}: ${String(cause)}`, { cause });
    this.name = 'PoisonEvent';
  }
}

type Targets = Pick<ProjectorOptions, 'projection' | 'readModels' | 'upcasters'>;

/** Folds a batch into documents and writes them atomically with the checkpoint. */
const applyEvents = async (
  { projection, readModels, upcasters }: Targets,
  events: readonly RecordedEvent[],
  generation: number,
  expected: Position | null,
  next: Position,
): Promise<void> => {
  const touched = events.map((event) => ({ event: upcasters.upcast(event), ids: projection.keys(event) }));
  const ids = [...new Set(touched.flatMap((t) => t.ids))];
  const stored = await readModels.getMany(projection.schema, ids, generation);
  const docs = new Map<string, Doc | undefined>(ids.map((id, i) => [id, stored[i]]));
  for (const { event, ids: keys } of touched) {
    for (const id of keys) {
      try {
        docs.set(id, projection.evolve(docs.get(id), event, id));
      } catch (error) {
        throw new PoisonEvent(projection.name, event, error);
      }
    }
  }
  const writes = [...docs].map(([id, doc]): ReadModelWrite =>
    doc === undefined ? { op: 'delete', id } : { op: 'put', doc },
  );
  await readModels.apply({ schema: projection.schema, generation, expected, next, writes });
};

/**
 * Builds a read model in a new generation, from the events in the log at the call, and switches to it. Queries read the
 * former generation until then. Resolves with the number of events read. The projector applies later events.
 */
export const rebuildProjection = async (
  targets: Targets & { readonly events: EventStore },
  onProgress: (events: number) => void,
): Promise<number> => {
  const { projection, readModels, events } = targets;
  await readModels.register(projection.schema);
  const generation = await readModels.beginGeneration(projection.schema);
  let checkpoint: Position | null = null;
  let count = 0;
  for await (const batch of eventHistory(events)) {
    const next: Position = batch.at(-1)?.position ?? START;
    await applyEvents(targets, batch, generation, checkpoint, next);
    checkpoint = next;
    count += batch.length;
    onProgress(count);
  }
  await readModels.activateGeneration(projection.schema, generation);
  return count;
};
