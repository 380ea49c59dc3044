import { type Projection } from './projection.js';
import { type Doc } from './read-model-store.js';

/** A document that knows the revision of its resource: the number of the last event of its stream, from 0. */
export interface Revised extends Doc {
  readonly revision: number;
}

/** A projection whose documents each show one stream, with the stream's revision added to the result of `evolve`. */
export const withRevision = <D extends Revised>(
  projection: Omit<Projection<D>, 'evolve'> & {
    evolve(...args: Parameters<Projection<D>['evolve']>): Omit<D, 'revision'> | undefined;
  },
): Projection<D> => ({
  ...projection,
  evolve: (doc, event, id) => {
    const next = projection.evolve(doc, event, id);
    // The type parameter hides that only `revision` is missing.
    return next && ({ ...next, revision: Number(event.revision) } as D);
  },
});
