import { type EventStore } from '#libs/kernel/event-store.js';
import { type Position } from '#libs/kernel/events.js';
import { LeasedWork, type RunningWork } from '#libs/kernel/leased-work.js';
import { type Leases } from '#libs/kernel/leases.js';
import { type Projection, type ProjectorStatus } from '#libs/kernel/projection.js';
import { Projector } from '#libs/kernel/projector.js';
import { type Reactor, ReactorRunner } from '#libs/kernel/reactor.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { type LaneWrites } from '#libs/stream-log/lane-writes.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type StreamProjection } from '#libs/stream-log/stream-projection.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { type Logger } from '#libs/telemetry/index.js';

export interface LeasedReadersOptions {
  readonly events: EventStore;
  readonly readModels: ReadModelStore;
  readonly log: StreamLog;
  readonly lanes?: LaneWrites | undefined;
  readonly leases: Leases;
  readonly upcasters: Upcasters;
  readonly projections: readonly Projection[];
  /** Reactors by the name of their lease. */
  readonly reactors: Readonly<Record<string, () => Reactor>>;
  readonly streamReadModels: readonly SharedReadModel[];
  readonly logger: Pick<Logger, 'error'>;
}

interface SharedReadModel {
  readonly projection: StreamProjection;
  readonly cleanUp: (projector: StreamProjector) => Reactor;
}

/** Position of a reader that this process does not run; greater than any real position. */
const END: Position = '9'.repeat(20);
/** Delay before acquiring a lease, per lease already held. Processes that start together then share about evenly. */
const HESITATE_MS = 150;

/** Stands for the lease of work that every process does at once. */
const FOR_ALL: Pick<Leases, 'acquire'> = {
  acquire: async (name) => ({ name, token: 0, lost: new AbortController().signal, release: async () => undefined }),
};

/** A reader of a log: under a lease, owned by this process or another, or with a share of the lanes. */
interface Reader {
  readonly work: LeasedWork;
  readonly name: string;
  readonly isShare: boolean;
  status: (() => readonly ProjectorStatus[]) | undefined;
  position: (() => Position) | undefined;
  backlog: (() => number) | undefined;
  lanes: (() => number) | undefined;
}

interface Started {
  readonly status: () => readonly ProjectorStatus[];
  readonly position?: () => Position;
  readonly backlog?: () => number;
  readonly lanes?: () => number;
  stop(): Promise<void>;
}

type Start = (fail: (error: Error) => void) => Promise<Started>;

/**
 * Role `projector`: every read model and every reaction. Those over the event log are owned by one process at a time. The
 * lanes of the stream read models are shared by all processes (docs/adr/0048).
 */
export class LeasedReaders {
  private readonly readers: Reader[] = [];

  constructor(private readonly options: LeasedReadersOptions) {
    const { projections, reactors, streamReadModels } = options;
    for (const projection of projections)
      this.add(`projection.${projection.name}`, (fail) => this.project(projection, fail));
    for (const [name, make] of Object.entries(reactors))
      this.add(`reactor.${name}`, (fail) => this.react(make(), fail));
    for (const { projection, cleanUp } of streamReadModels) this.share(projection, cleanUp);
  }

  start(): void {
    for (const { work } of this.readers) work.start();
  }

  /**
   * Status of the readers that this process owns. Another reader appears only with a failure after which no process
   * owns it.
   */
  status(): readonly ProjectorStatus[] {
    return this.readers.flatMap(({ status, name, work: { failure } }) => {
      if (status) return status();
      if (failure === undefined) return [];
      return [{ name, caughtUp: false, checkpoint: null, failure: `${name}: ${failure.message}` }];
    });
  }

  /** Position up to which the reactions of this process have handled events, except clean-ups of stream read models. */
  position(): Position {
    return this.readers.reduce((lowest, { position }) => {
      const at = position?.() ?? END;
      return at < lowest ? at : lowest;
    }, END);
  }

  backlog(): number {
    return this.readers.reduce((sum, { backlog }) => sum + (backlog?.() ?? 0), 0);
  }

  /** Number of lanes of stream read models that this process writes. */
  lanes(): number {
    return this.readers.reduce((sum, { lanes }) => sum + (lanes?.() ?? 0), 0);
  }

  owned(): number {
    return this.readers.filter(({ work, isShare }) => work.owned && !isShare).length;
  }

  async close(): Promise<void> {
    await Promise.all(this.readers.map(({ work }) => work.stop()));
  }

  /**
   * Adds a read model over the stream log. Every process owns a share of its lanes, and the process with the lease
   * cleans it up.
   */
  private share(projection: StreamProjection, cleanUp: (projector: StreamProjector) => Reactor): void {
    this.add(`projection.${projection.name}`, async (fail) => {
      const projector = this.projectorOf(projection, fail);
      const reacting = await this.react(cleanUp(projector), fail);
      const stop = async (): Promise<void> => {
        await reacting.stop();
        await projector.stop();
      };
      // It has no position, because no query can read what a clean-up removes, so no command needs to wait for it.
      return { status: reacting.status, stop };
    });
    this.add(`share.${projection.name}`, (fail) => this.consume(projection, fail), FOR_ALL);
  }

  private add(name: string, start: Start, leases?: Pick<Leases, 'acquire'>): void {
    const { logger } = this.options;
    const reader: Reader = {
      name,
      isShare: leases !== undefined,
      work: new LeasedWork({
        name,
        leases: leases ?? this.options.leases,
        ...(leases ? {} : { hesitateMs: () => this.owned() * HESITATE_MS }),
        start: () => this.own(reader, start),
        onFailure: (error) => logger.error({ err: error, lease: name }, 'reader.stopped'),
      }),
      status: undefined,
      position: undefined,
      backlog: undefined,
      lanes: undefined,
    };
    this.readers.push(reader);
  }

  private async own(reader: Reader, start: Start): Promise<RunningWork> {
    let fail: (error: Error) => void = () => undefined;
    const ended = new Promise<Error>((resolve) => (fail = resolve));
    const started = await start(fail);
    Object.assign(reader, { backlog: undefined, lanes: undefined, position: undefined }, started);
    return {
      ended,
      stop: async () => {
        reader.status = undefined;
        reader.position = undefined;
        reader.backlog = undefined;
        reader.lanes = undefined;
        await started.stop();
      },
    };
  }

  private async project(projection: Projection, onFailure: (error: Error) => void): Promise<Started> {
    const { events, readModels, upcasters } = this.options;
    const onApplied = (): void => undefined;
    const projector = new Projector({ projection, events, readModels, upcasters, onApplied, onFailure });
    await projector.start();
    return { status: () => [projector.status()], stop: () => projector.stop() };
  }

  private async react(reactor: Reactor, onFailure: (error: Error) => void): Promise<Reaction> {
    const { events, readModels, upcasters } = this.options;
    const runner = new ReactorRunner({ reactor, events, readModels, upcasters, onFailure });
    await runner.start();
    return { status: () => [runner.status()], position: () => runner.position(), stop: () => runner.stop() };
  }

  private projectorOf(projection: StreamProjection, onFailure: (error: Error) => void): StreamProjector {
    const { log, readModels, lanes } = this.options;
    return new StreamProjector({ projection, log, readModels, lanes, onFailure });
  }

  private async consume(projection: StreamProjection, onFailure: (error: Error) => void): Promise<Started> {
    const projector = this.projectorOf(projection, onFailure);
    await projector.start();
    return {
      status: () => [projector.status()],
      backlog: () => projector.backlog(),
      lanes: () => projector.lanes(),
      stop: () => projector.stop(),
    };
  }
}

type Reaction = Started & { readonly position: () => Position };
