import { Condition } from './condition.js';
import { type EventStore } from './event-store.js';
import { type Position } from './events.js';
import { type LiveView } from './live-view.js';
import { type Projection, type ProjectorStatus } from './projection.js';
import { Projector } from './projector.js';
import { type ReadModelStore } from './read-model-store.js';
import { type ReadYourWrites } from './read-your-writes.js';
import { type Upcasters } from './upcasting.js';
import { ViewFollower } from './view-follower.js';

export interface ProjectorsOptions {
  readonly events: EventStore;
  readonly readModels: ReadModelStore;
  readonly upcasters: Upcasters;
  readonly projections: readonly Projection[];
  readonly views: readonly LiveView[];
  /** Called once for each read model that stops for good. The others continue. */
  readonly onFailure: (error: Error) => void;
  /** Called once when the live views stop for good. The process must end then. */
  readonly onViewsFailure: (error: Error) => void;
}

/** Readers of the event log in one process: projections of the read models, and the live views. */
export class Projectors implements ReadYourWrites {
  readonly views: ViewFollower;
  private readonly projectors: readonly Projector[];
  private readonly moved = new Condition();

  constructor(private readonly options: ProjectorsOptions) {
    const { events, readModels, upcasters, views, onFailure, onViewsFailure } = options;
    const onApplied = (): void => this.moved.wake();
    this.views = new ViewFollower({ events, upcasters, views, onApplied, onFailure: onViewsFailure });
    this.projectors = options.projections.map(
      (projection) => new Projector({ projection, events, readModels, upcasters, onApplied, onFailure }),
    );
  }

  /** Resolves when all readers have applied the events in the log at the call. */
  async start(): Promise<void> {
    await Promise.all([this.views.start(), ...this.projectors.map((projector) => projector.start())]);
    const end = await this.options.events.lastPosition();
    await this.moved.until(() => this.applied() >= end || this.failed() !== undefined);
    const failure = this.failed();
    if (failure !== undefined) throw new Error(failure);
  }

  waitFor(position: Position, timeoutMs: number): Promise<boolean> {
    return this.moved.within(timeoutMs, () => this.applied() >= position);
  }

  status(): readonly ProjectorStatus[] {
    return [...this.projectors.map((projector) => projector.status()), this.views.status()];
  }

  async stop(): Promise<void> {
    await Promise.all([this.views.stop(), ...this.projectors.map((projector) => projector.stop())]);
    this.moved.wake();
  }

  /** Position that every reader has applied. */
  private applied(): Position {
    let lowest = this.views.position();
    for (const projector of this.projectors) {
      const position = projector.position();
      if (position < lowest) lowest = position;
    }
    return lowest;
  }

  private failed(): string | undefined {
    return this.status().find((status) => status.failure !== undefined)?.failure;
  }
}
