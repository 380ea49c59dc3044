import { pause } from '#libs/async/pause.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { LEASE_MS, type Leases } from '#libs/kernel/leases.js';
import { type ProcessRegistry } from '#libs/kernel/process-registry.js';
import { type Projection } from '#libs/kernel/projection.js';
import { PoisonEvent, rebuildProjection } from '#libs/kernel/projector.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { type LaneWrites } from '#libs/stream-log/lane-writes.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { PoisonRecord, type StreamProjection } from '#libs/stream-log/stream-projection.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';

/** Read models of an installation, over the event log and over the stream log. */
export interface RebuiltModels {
  readonly projections: readonly Projection[];
  readonly streamProjections: readonly StreamProjection[];
  readonly upcasters: Upcasters;
}

export interface RebuildEngines {
  readonly events: EventStore;
  readonly readModels: ReadModelStore;
  readonly log: StreamLog;
  readonly lanes?: LaneWrites | undefined;
}

export interface Rebuilt {
  readonly name: string;
  /** Number of events of the event log, or records of the stream log, that were read. */
  readonly events: number;
  readonly ms: number;
}

/** Callbacks during a rebuild. */
export interface RebuildObserver {
  /** Called about once a second, with the number of events read so far. */
  readonly onProgress: (name: string, events: number) => void;
  /**
   * Called when an engine failed. The read model `name` restarts from the oldest event after a pause; throw to end it.
   */
  readonly onRetry: (name: string, error: Error) => void;
}

/** Failures of one read model after which the rebuild gives up. */
const ATTEMPTS = 5;
const RETRY_MS = 2_000;

/**
 * Rebuilds every read model from the logs, each beside its old generation, which it then replaces. No other process may
 * apply to them at the same time (see `withProjectionLeases`). Rejects at an event that cannot be applied, or when an
 * engine failed too often. Finished read models are then switched and the others unchanged; repeating it is safe.
 */
export const rebuildReadModels = async (
  { events, readModels, log, lanes }: RebuildEngines,
  { projections, streamProjections, upcasters }: RebuiltModels,
  { onProgress, onRetry }: RebuildObserver,
  retryMs = RETRY_MS,
): Promise<readonly Rebuilt[]> => {
  const rebuilt: Rebuilt[] = [];
  const timed = async (
    name: string,
    rebuild: (progress: (events: number) => void) => Promise<number>,
  ): Promise<void> => {
    const startedAt = performance.now();
    let toldAt = startedAt;
    const progress = (read: number): void => {
      if (performance.now() - toldAt < 1_000) return;
      toldAt = performance.now();
      onProgress(name, read);
    };
    for (let attempt = 1; ; attempt++) {
      try {
        const events = await rebuild(progress);
        rebuilt.push({ name, events, ms: performance.now() - startedAt });
        return;
      } catch (error) {
        if (!(error instanceof Error) || attempt === ATTEMPTS || isPoison(error)) throw error;
        onRetry(name, error);
        await pause(retryMs);
      }
    }
  };
  for (const projection of projections) {
    await timed(projection.name, (progress) =>
      rebuildProjection({ projection, readModels, events, upcasters }, progress),
    );
  }
  for (const projection of streamProjections) {
    await timed(projection.name, (progress) =>
      // It does not follow the log, so every error is thrown by `rebuild`.
      new StreamProjector({ projection, log, readModels, lanes, onFailure: () => undefined }).rebuild(progress),
    );
  }
  return rebuilt;
};

const isPoison = (error: Error): boolean => error instanceof PoisonEvent || error instanceof PoisonRecord;

const LOOK_MS = 200;

/** Live processes of the role, which may write lanes without a lease. */
const projectorsIn = async (registry: ProcessRegistry, signal: AbortSignal): Promise<readonly string[]> => {
  for (;;) {
    const ids = (await registry.live()).filter(({ role }) => role === 'projector').map(({ id }) => id);
    if (ids.length === 0 || signal.aborted) return ids;
    await pause(LOOK_MS, signal);
  }
};

/**
 * Does the work while this process holds the lease of every projection, as the role `projector` otherwise does. Rejects
 * while a projector lives, and when a lease is not free within twice the lease time of a dead owner. A projector that
 * starts in the meantime does no harm (docs/adr/0048).
 */
export const withProjectionLeases = async <T>(
  { leases, registry }: { readonly leases: Leases; readonly registry: ProcessRegistry },
  { projections, streamProjections }: Pick<RebuiltModels, 'projections' | 'streamProjections'>,
  work: () => Promise<T>,
  waitMs = 2 * LEASE_MS,
): Promise<T> => {
  const owned = [...projections, ...streamProjections].map(({ name }) => `projection.${name}`);
  const signal = AbortSignal.timeout(waitMs);
  const acquired = await Promise.all(owned.map((name) => leases.acquire(name, signal)));
  const held = acquired.filter((lease) => lease !== undefined);
  try {
    const missing = owned.filter((_name, i) => acquired[i] === undefined);
    const projectors = await projectorsIn(registry, signal);
    if (missing.length > 0 || projectors.length > 0) {
      const who = projectors.length === 0 ? '' : ` (${projectors.join(', ')})`;
      const what = missing.length === 0 ? 'lanes of read models' : missing.join(', ');
      throw new Error(`stop the projector processes${who} first: they hold ${what}`);
    }
    const result = await work();
    const lost = held.filter(({ lost }) => lost.aborted).map(({ name }) => name);
    if (lost.length > 0) {
      throw new Error(
        `the leases of ${lost.join(', ')} were lost during the rebuild: stop the projector processes and repeat it`,
      );
    }
    return result;
  } finally {
    await Promise.all(held.map((lease) => lease.release()));
  }
};
