import { type RecordedEvent } from './events.js';
import { type CollectionSchema, type Doc } from './read-model-store.js';

/**
 * Pure definition of a read model over the event log. `keys` names the documents that an event touches. `evolve`
 * returns the new document, or undefined for none. Replaying an event must give the same documents (`numberOfTimes` in
 * testing/). `name` is `{context}.{name}.v{n}`. A new version is a new name, rebuilt from zero.
 */
export interface Projection<D extends Doc = Doc> {
  readonly name: string;
  readonly schema: CollectionSchema;
  keys(event: RecordedEvent): readonly string[];
  evolve(doc: D | undefined, event: RecordedEvent, id: string): D | undefined;
}

/** Status of a projector: its progress, and the failure that stopped it. */
export interface ProjectorStatus {
  readonly name: string;
  readonly caughtUp: boolean;
  readonly checkpoint: string | null;
  readonly failure?: string;
}
