import { pause } from '#libs/async/pause.js';
import { DomainError } from './domain-error.js';
import { type EventStore } from './event-store.js';
import { START, type Position, type RecordedEvent } from './events.js';
import { type CommandContext } from './handle-command.js';
import { eventIdOf } from './ids.js';
import { type ProjectorStatus } from './projection.js';
import { type CollectionSchema, type ReadModelStore } from './read-model-store.js';
import { type Upcasters } from './upcasting.js';
import { asError } from './error-message.js';

/**
 * Carries out the durable consequences of events. Events are handled at least once, in log order, so `handle` must be
 * idempotent. Reactors are never rebuilt.
 */
export interface Reactor {
  /** `{context}.{name}.v{n}`. The checkpoint is stored under it. */
  readonly name: string;
  /** Types of the events that `handle` receives. */
  readonly eventTypes: readonly string[];
  /** Resolves when all consequences are durable. A rejection is retried. */
  handle(event: RecordedEvent): Promise<void>;
}

/** Context of a reactor's command. A repeat for the same event has the same command id, so that it is absorbed. */
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
  /** Stores the checkpoint, in a collection without documents. */
  readonly readModels: ReadModelStore;
  readonly upcasters: Upcasters;
  /** Called once when it stops for good, because an event failed repeatedly or because of a second owner. */
  readonly onFailure: (error: Error) => void;
  /** Pauses in ms between attempts at one event. After the last one it stops. */
  readonly backoffMs?: readonly number[];
}

const BACKOFF_MS = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 10_000, 10_000];
/** Pause in ms between attempts while the disk is full. */
const FULL_MS = 1_000;
/** Number of skipped events per stored checkpoint. Few are stored, because reading the events again is cheap. */
const SKIPPED_PER_CHECKPOINT = 500;

/** Runs one reactor from its checkpoint on. Stops and reports on failure. */
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
      this.failure = asError(error);
      this.options.onFailure(this.failure);
    });
  }

  /** Position of the last event that was handled or skipped. */
  position(): Position {
    return this.handled;
  }

  status(): ProjectorStatus {
    const base = { name: this.options.reactor.name, caughtUp: this.caughtUp, checkpoint: this.handled };
    return this.failure ? { ...base, failure: this.failure.message } : base;
  }

  /** Stops after the event in progress. */
  async stop(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  private async follow(): Promise<void> {
    const { events, upcasters } = this.options;
    for await (const batch of events.subscribe(this.stored ?? START, this.abort.signal)) {
      // The checkpoint is stored once per batch. After a crash the batch's events are handled again.
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

  /** Returns false when it was stopped before the event was handled. */
  private async handle(event: RecordedEvent): Promise<boolean> {
    const { reactor, backoffMs = BACKOFF_MS } = this.options;
    for (let attempt = 0; ; attempt++) {
      try {
        await reactor.handle(event);
        return true;
      } catch (error) {
        // Attempts on a full disk cannot succeed, so they do not count.
        const full = error instanceof DomainError && error.code === 'platform.storage_full';
        if (full) attempt--;
        const pauseMs = full ? FULL_MS : backoffMs[attempt];
        if (pauseMs === undefined) {
          throw new Error(
            `reactor ${reactor.name} gave up on ${event.type} at position ${event.position} (${event.stream}@${event.revision}) after ${attempt + 1} attempts: ${String(error)}`,
            { cause: error },
          );
        }
        await pause(pauseMs, this.abort.signal);
        if (this.abort.signal.aborted) return false;
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
}
