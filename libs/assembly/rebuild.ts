import { type Config } from '#libs/config/index.js';
import { rebuildProjection } from '#libs/kernel/projector.js';
import { makeUpcasters, projections } from './control-plane.js';
import { streamProjections, streamProjector } from './stream-projections.js';
import { type Engines } from './engines.js';

export interface Rebuilt {
  readonly name: string;
  /** Events of the event log, or records of the stream log, that were read. */
  readonly events: number;
  readonly ms: number;
}

/**
 * Makes every read model anew from the logs, each beside its old form and then in its place. `onProgress` is called
 * about once a second with what was read so far. Nobody else may apply to them meanwhile: see `withProjectionLeases`.
 */
export const rebuildReadModels = async (
  engines: Pick<Engines, 'events' | 'readModels' | 'log'>,
  config: Config,
  onProgress: (name: string, events: number) => void,
): Promise<readonly Rebuilt[]> => {
  const { events, readModels, log } = engines;
  const upcasters = makeUpcasters();
  const rebuilt: Rebuilt[] = [];
  const timed = async (
    name: string,
    rebuild: (progress: (events: number) => void) => Promise<number>,
  ): Promise<void> => {
    const startedAt = performance.now();
    let toldAt = startedAt;
    const count = await rebuild((read) => {
      if (performance.now() - toldAt < 1_000) return;
      toldAt = performance.now();
      onProgress(name, read);
    });
    rebuilt.push({ name, events: count, ms: performance.now() - startedAt });
  };
  for (const projection of projections) {
    await timed(projection.name, (progress) =>
      rebuildProjection({ projection, readModels, events, upcasters }, progress),
    );
  }
  for (const projection of Object.values(streamProjections(config))) {
    // It follows nothing: whatever goes wrong is thrown by `rebuild`.
    const projector = streamProjector({ log, readModels }, projection, () => undefined);
    await timed(projection.name, (progress) => projector.rebuild(progress));
  }
  return rebuilt;
};

/**
 * Does the work while this process owns every projection, as the role `projector` otherwise does. Rejects when they are
 * not to be had within twice the time after which a dead owner's lease is free: then a living one has them.
 */
export const withProjectionLeases = async <T>(
  { leases, registry }: Pick<Engines, 'leases' | 'registry'>,
  config: Config,
  work: () => Promise<T>,
): Promise<T> => {
  const owned = [...projections, ...Object.values(streamProjections(config))].map(({ name }) => `projection.${name}`);
  const signal = AbortSignal.timeout(2 * config.leaseMs);
  const acquired = await Promise.all(owned.map((name) => leases.acquire(name, signal)));
  const held = acquired.filter((lease) => lease !== undefined);
  try {
    const missing = owned.filter((_name, i) => acquired[i] === undefined);
    if (missing.length > 0) {
      const projectors = (await registry.live()).filter(({ role }) => role === 'projector').map(({ id }) => id);
      const who = projectors.length === 0 ? '' : ` (${projectors.join(', ')})`;
      throw new Error(`stop the projector processes${who} first: they hold ${missing.join(', ')}`);
    }
    const result = await work();
    const lost = held.filter(({ lost }) => lost.aborted).map(({ name }) => name);
    if (lost.length > 0) {
      throw new Error(
        `the leases of ${lost.join(', ')} were lost meanwhile: stop the projector processes, do it again`,
      );
    }
    return result;
  } finally {
    await Promise.all(held.map((lease) => lease.release()));
  }
};
