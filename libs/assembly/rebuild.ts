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
 * about once a second with what was read so far.
 */
export const rebuildReadModels = async (
  engines: Engines,
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
