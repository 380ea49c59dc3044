import { type EventStore } from './event-store.js';
import { START, type Position } from './events.js';
import { type LiveView } from './live-view.js';
import { type Projection, type ProjectorStatus } from './projection.js';
import { Projector } from './projector.js';
import { type ReadModelStore } from './read-model-store.js';
import { type ReadYourWrites } from './read-your-writes.js';
import { type Upcasters } from './upcasting.js';

export interface ProjectorsOptions {
  readonly events: EventStore;
  readonly readModels: ReadModelStore;
  readonly upcasters: Upcasters;
  readonly projections: readonly Projection[];
  readonly views: readonly LiveView[];
  readonly onFailure: (error: Error) => void;
}

/** Every reader of the event log in this process: the projections of the read models, and the tables in memory. */
export class Projectors implements ReadYourWrites {
  private readonly projectors: readonly Projector[];
  private readonly abort = new AbortController();
  private following: Promise<void> = Promise.resolve();
  private viewsAt: Position = START;
  private viewsCaughtUp = false;
  private viewsFailure: Error | undefined;
  private waiting = new Set<() => void>();

  constructor(private readonly options: ProjectorsOptions) {
    const { events, readModels, upcasters, onFailure } = options;
    const onApplied = (): void => this.wake();
    this.projectors = options.projections.map(
      (projection) => new Projector({ projection, events, readModels, upcasters, onApplied, onFailure }),
    );
  }

  /** Resolves when all of them hold what was in the log at the call. */
  async start(): Promise<void> {
    const end = await this.options.events.lastPosition();
    this.following = this.followViews().catch((error: unknown) => {
      this.viewsFailure = error instanceof Error ? error : new Error(String(error));
      this.options.onFailure(this.viewsFailure);
      this.wake();
    });
    await Promise.all(this.projectors.map((projector) => projector.start()));
    await this.until(() => this.applied() >= end || this.failed() !== undefined);
    const failure = this.failed();
    if (failure !== undefined) throw new Error(failure);
  }

  async waitFor(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.applied() >= position) return true;
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      this.wake();
    }, timeoutMs);
    await this.until(() => timedOut || this.applied() >= position);
    clearTimeout(timer);
    return this.applied() >= position;
  }

  status(): readonly ProjectorStatus[] {
    const views = { name: 'live-views', caughtUp: this.viewsCaughtUp, checkpoint: this.viewsAt };
    return [
      ...this.projectors.map((projector) => projector.status()),
      this.viewsFailure ? { ...views, failure: this.viewsFailure.message } : views,
    ];
  }

  async stop(): Promise<void> {
    this.abort.abort();
    await Promise.all([this.following, ...this.projectors.map((projector) => projector.stop())]);
    this.wake();
  }

  /** The position that every reader has applied. */
  private applied(): Position {
    let lowest = this.viewsAt;
    for (const projector of this.projectors) {
      const position = projector.position();
      if (position < lowest) lowest = position;
    }
    return lowest;
  }

  private failed(): string | undefined {
    return this.status().find((status) => status.failure !== undefined)?.failure;
  }

  private async followViews(): Promise<void> {
    const { events, upcasters, views } = this.options;
    for await (const batch of events.subscribe(START, this.abort.signal)) {
      for (const recorded of batch.events) {
        const event = upcasters.upcast(recorded);
        for (const view of views) view.apply(event);
      }
      this.viewsAt = batch.position;
      this.viewsCaughtUp = batch.caughtUp;
      this.wake();
    }
  }

  private wake(): void {
    const waiting = this.waiting;
    if (waiting.size === 0) return;
    this.waiting = new Set();
    for (const resume of waiting) resume();
  }

  private async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }
}
