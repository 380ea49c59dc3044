import { type Config } from '#libs/config/index.js';
import { LeasedWork, type RunningWork } from '#libs/kernel/leased-work.js';
import { type Leases } from '#libs/kernel/leases.js';
import { type Position } from '#libs/kernel/events.js';
import { type Projection, type ProjectorStatus } from '#libs/kernel/projection.js';
import { Projector } from '#libs/kernel/projector.js';
import { type Reactor, type ReactorRunner } from '#libs/kernel/reactor.js';
import { type PlatformEvents } from '#libs/platform-events/platform-events.js';
import { type StreamProjection } from '#libs/stream-log/stream-projection.js';
import { type StreamProjector } from '#libs/stream-log/stream-projector.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger } from '#libs/telemetry/index.js';
import { readModelsApplied } from '#libs/cluster/cluster.js';
import { type ControlPlane, projections, readModelsIn, startReactors } from './control-plane.js';
import {
  dataStoreCleanUpReactor,
  leftMembersReactor,
  accountCleanUpReactor,
  deletedSourceEventsReactor,
  autoSubscribeReactor,
  deletedResourceSubscriptionsReactor,
  platformEventsReactor,
  replayReactor,
  webhookCleanUpReactor,
} from './reactors.js';
import { streamProjections, streamProjector } from './stream-projections.js';
import { webhookTopics } from './topic-policy.js';

export interface LeasedReadersOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  readonly topics: TopicPolicy;
  readonly logger: Logger;
  readonly platformEvents: PlatformEvents;
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
    const { config } = options;
    for (const projection of projections)
      this.add(`projection.${projection.name}`, (fail) => this.project(projection, fail));
    this.add('reactor.subscriptions', (fail) =>
      this.react(deletedResourceSubscriptionsReactor(options.plane, this.applied()), fail),
    );
    this.add('reactor.auto-subscriptions', (fail) =>
      this.react(autoSubscribeReactor(options.plane, this.applied()), fail),
    );
    this.add('reactor.left-members', (fail) => this.react(leftMembersReactor(options.plane, this.applied()), fail));
    this.add('reactor.replay', (fail) => this.react(replayReactor(options.plane, options.topics), fail));
    this.add('reactor.platform-events', (fail) =>
      this.react(platformEventsReactor(options.plane, options.platformEvents), fail),
    );
    this.add('reactor.data-stores', (fail) => this.react(dataStoreCleanUpReactor(options.plane), fail));
    this.add('reactor.accounts', (fail) => this.react(accountCleanUpReactor(options.plane), fail));
    const { summaries, attempts } = streamProjections(config);
    this.share(summaries, (projector) => deletedSourceEventsReactor(projector, options.topics));
    const { log, schedule } = options.plane.engines;
    this.share(attempts, (projector) =>
      webhookCleanUpReactor(options.plane, projector, webhookTopics(log, options.topics, schedule)),
    );
  }

  start(): void {
    for (const { work } of this.readers) work.start();
  }

  /** Status of the readers that this process owns. Of the others it shows only a failure after which nobody owns it. */
  status(): readonly ProjectorStatus[] {
    return this.readers.flatMap(({ status, name, work: { failure } }) => {
      if (status) return status();
      if (failure === undefined) return [];
      return [{ name: 'leased', caughtUp: false, checkpoint: null, failure: `${name}: ${failure.message}` }];
    });
  }

  /** Position up to which the reactions in this process have handled events, but for clean-ups of stream read models. */
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
   * Adds a read model over the stream log. The process with its lease cleans it up. Every process takes a share of its
   * lanes.
   */
  private share(projection: StreamProjection, cleanUp: (projector: StreamProjector) => Reactor): void {
    const { engines } = this.options.plane;
    this.add(`projection.${projection.name}`, async (fail) => {
      const projector = streamProjector(engines, projection, fail);
      const reacting = await this.react(cleanUp(projector), fail);
      const stop = async (): Promise<void> => {
        await reacting.stop();
        await projector.stop();
      };
      // Without a position: nobody can read what a clean-up removes, so no command waits for it.
      return { status: reacting.status, stop };
    });
    this.add(`share.${projection.name}`, (fail) => this.consume(projection, fail), FOR_ALL);
  }

  private add(name: string, start: Start, leases?: Pick<Leases, 'acquire'>): void {
    const { plane, logger } = this.options;
    const reader: Reader = {
      name,
      isShare: leases !== undefined,
      work: new LeasedWork({
        name,
        leases: leases ?? plane.engines.leases,
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
    const { engines, upcasters } = this.options.plane;
    const { events, readModels } = engines;
    const onApplied = (): void => undefined;
    const projector = new Projector({ projection, events, readModels, upcasters, onApplied, onFailure });
    await projector.start();
    return { status: () => [projector.status()], stop: () => projector.stop() };
  }

  private applied() {
    const { plane, logger } = this.options;
    return readModelsApplied(readModelsIn(plane.engines.readModels), plane.follower, logger);
  }

  private async react(reactor: Reactor, onFailure: (error: Error) => void): Promise<Reaction> {
    const [runner] = await startReactors(this.options.plane, [reactor], onFailure);
    return reaction(runner);
  }

  private async consume(projection: StreamProjection, onFailure: (error: Error) => void): Promise<Started> {
    const projector = streamProjector(this.options.plane.engines, projection, onFailure);
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

const reaction = (runner: ReactorRunner | undefined): Reaction => {
  if (!runner) throw new Error('a reactor was not started');
  return { status: () => [runner.status()], position: () => runner.position(), stop: () => runner.stop() };
};
