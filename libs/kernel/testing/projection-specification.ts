import { expect } from '@jest/globals';
import { type RecordedEvent } from '../events.js';
import { type Projection } from '../projection.js';
import { type Doc } from '../read-model-store.js';

export interface Projected<D extends Doc> {
  /** Expects exactly this document, or none for `undefined`. Chainable. */
  then(id: string, doc: D | undefined): Projected<D>;
  thenMatches(id: string, part: Partial<D>): Projected<D>;
  /** Returns all documents by id, for other checks. */
  docs(): ReadonlyMap<string, D>;
}

export interface GivenEvents<D extends Doc> extends Projected<D> {
  /**
   * Applies every event n times in a row, as a projector that crashed between write and checkpoint would. Expects the
   * same documents as after one time.
   */
  numberOfTimes(n: number): Projected<D>;
}

/** Checks a projection: `projecting(p).given(events).numberOfTimes(2).then(id, doc)`, with events of `history(...)`. */
export const projecting = <D extends Doc>(
  projection: Projection<D>,
): { given(events: readonly RecordedEvent[]): GivenEvents<D> } => ({
  given: (events) => ({
    ...projected(run(projection, events, 1)),
    numberOfTimes: (n) => {
      const docs = run(projection, events, n);
      expect([...docs]).toEqual([...run(projection, events, 1)]);
      return projected(docs);
    },
  }),
});

const run = <D extends Doc>(
  projection: Projection<D>,
  events: readonly RecordedEvent[],
  times: number,
): ReadonlyMap<string, D> => {
  const docs = new Map<string, D>();
  for (const event of events) {
    for (let time = 0; time < times; time++) {
      for (const id of projection.keys(event)) {
        const before = docs.get(id);
        const frozen = before === undefined ? undefined : structuredClone(before);
        const next = projection.evolve(before, event, id);
        expect(before).toEqual(frozen); // evolve is pure
        if (next === undefined) docs.delete(id);
        else {
          expect(next.id).toBe(id);
          for (const field of [...projection.schema.indexed, projection.schema.sort]) {
            const value: unknown = Object.entries(next).find(([name]) => name === field)?.[1];
            if (typeof value !== 'string') throw new Error(`${projection.name}: field ${field} of ${id} is not text`);
          }
          docs.set(id, next);
        }
      }
    }
  }
  return docs;
};

const projected = <D extends Doc>(docs: ReadonlyMap<string, D>): Projected<D> => {
  const chain: Projected<D> = {
    then: (id, doc) => {
      expect(docs.get(id)).toEqual(doc);
      return chain;
    },
    thenMatches: (id, part) => {
      expect(docs.get(id)).toMatchObject(part);
      return chain;
    },
    docs: () => docs,
  };
  return chain;
};
