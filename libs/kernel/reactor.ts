import { DomainError } from './domain-error.js';
import { type EventStore } from './event-store.js';
import { START, type Position, type RecordedEvent } from './events.js';
import { type CommandContext } from './handle-command.js';
import { eventIdOf } from './ids.js';
import { type ProjectorStatus } from './projection.js';
import { type CollectionSchema, type ReadModelStore } from './read-model-store.js';
import { type Upcasters } from './upcasting.js';

/**
 * Does what must follow from an event, durably. An event is handled at least once, in log order: `handle` must be
 * idempotent. Reactors are never rebuilt.
 */
export interface Reactor {
  /** `{context}.{name}.v{n}`; its place in the log is stored under it. */
  readonly name: string;
  /** Types of the events that it wants. */
  readonly eventTypes: readonly string[];
  /** Resolves when all that follows is durable. A rejection is tried again. */
  handle(event: RecordedEvent): Promise<void>;
}

/** On whose account a reactor acts. A repeat for the same event has the same command id, so that it is absorbed. */
export const reactionTo = (event: RecordedEvent, reactor: string): CommandContext => ({
  commandId: eventIdOf(event.id, reactor, 0),
  correlationId: event.metadata.$correlationId,
  causationId: event.id,
  actor: { userId: event.metadata.actor.userId, apiKeyId: null },
  workspaceId: event.metadata.workspaceId,
  ...(event.metadata.traceparent === undefined ? {} : { traceparent: event.metadata.traceparent }),
});

export interface ReactorOptions {
  readonly reactor: Reactor;
  readonly events: EventStore;
  /** Keeps the checkpoint: a collection without documents. */
  readonly readModels: ReadModelStore;
  readonly upcasters: Upcasters;
  /** Called once when it stops for good: an event that failed time after time, or a second owner. */
  readonly onFailure: (error: Error) => void;
  /** Pauses between attempts at one event, ms; after the last one it stops. */
  readonly backoffMs?: readonly number[];
}

const BACKOFF_MS = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 10_000, 10_000];
/** From one attempt to the next while there is no room to write. */
const FULL_MS = 1_000;
/** Events that it does not want move the stored checkpoint only this often: reading them again is cheap. */
const SKIPPED_PER_CHECKPOINT = 500;

/** Runs one reactor from its checkpoint on. Stops loudly. */
export class ReactorRunner {
  private readonly abort = new AbortController();
  private readonly wanted: ReadonlySet<string>;
  private readonly schema: CollectionSchema;
  private running: Promise<void> = Promise.resolve();
  private generation = 1;
  private stored: Position | null = null;
  private handled: Position = START;
  private skipped = 0;
  private caughtUp = false;
  private failure: Error | undefined;

  constructor(private readonly options: ReactorOptions) {
    this.wanted = new Set(options.reactor.eventTypes);
    this.schema = { name: `reactor.${options.reactor.name}`, indexed: [], sort: 'id' };
  }

  async start(): Promise<void> {
    const { active, checkpoint } = await this.options.readModels.register(this.schema);
    this.generation = active;
    this.stored = checkpoint;
    this.handled = checkpoint ?? START;
    this.running = this.follow().catch((error: unknown) => {
      this.failure = error instanceof Error ? error : new Error(String(error));
      this.options.onFailure(this.failure);
    });
  }

  /** Of the last event that is handled, or that it does not want. */
  position(): Position {
    return this.handled;
  }

  status(): ProjectorStatus {
    const base = { name: this.options.reactor.name, caughtUp: this.caughtUp, checkpoint: this.handled };
    return this.failure ? { ...base, failure: this.failure.message } : base;
  }

  /** Waits for the event in hand. */
  async stop(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  private async follow(): Promise<void> {
    const { events, upcasters } = this.options;
    for await (const batch of events.subscribe(this.stored ?? START, this.abort.signal)) {
      // The place in the log is stored once for all of a batch: what a crash leaves out is handled again.
      let worthStoring = false;
      let place = this.handled;
      for (const recorded of batch.events) {
        if (this.abort.signal.aborted) break;
        if (this.wanted.has(recorded.type)) {
          if (!(await this.handle(upcasters.upcast(recorded)))) break;
          worthStoring = true;
        } else if (++this.skipped >= SKIPPED_PER_CHECKPOINT) worthStoring = true;
        place = recorded.position;
      }
      if (worthStoring) await this.store(place);
      this.handled = place;
      if (this.abort.signal.aborted) return;
      this.caughtUp = batch.caughtUp;
    }
  }

  /** False when it was stopped before the event was handled. */
  private async handle(event: RecordedEvent): Promise<boolean> {
    const { reactor, backoffMs = BACKOFF_MS } = this.options;
    for (let attempt = 0; ; attempt++) {
      try {
        await reactor.handle(event);
        return true;
      } catch (error) {
        // While the disk is full no attempt will do, and none counts.
        const full = error instanceof DomainError && error.code === 'platform.storage_full';
        if (full) attempt--;
        const pause = full ? FULL_MS : backoffMs[attempt];
        if (pause === undefined) {
          throw new Error(
            `reactor ${reactor.name} gave up on ${event.type} at position ${event.position} (${event.stream}@${event.revision}) after ${attempt + 1} attempts: ${String(error)}`,
            { cause: error },
          );
        }
        if (!(await this.pause(pause))) return false;
      }
    }
  }

  private async store(position: Position): Promise<void> {
    await this.options.readModels.apply({
      schema: this.schema,
      generation: this.generation,
      expected: this.stored,
      next: position,
      writes: [],
    });
    this.stored = position;
    this.skipped = 0;
  }

  /** False when it was stopped meanwhile. */
  private pause(ms: number): Promise<boolean> {
    const { signal } = this.abort;
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve(!signal.aborted);
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }
}
