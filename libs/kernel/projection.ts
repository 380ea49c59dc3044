import { type RecordedEvent } from './events.js';
import { type CollectionSchema, type Doc } from './read-model-store.js';

/**
 * A read model over the event log, pure: `keys` names the documents that an event touches, `evolve` says what becomes
 * of each (undefined: no document). Replaying an event must give the same documents (`numberOfTimes` in testing/).
 * `name` is `{context}.{name}.v{n}`; a new version is a new name, rebuilt from zero.
 */
export interface Projection<D extends Doc = Doc> {
  readonly name: string;
  readonly schema: CollectionSchema;
  keys(event: RecordedEvent): readonly string[];
  evolve(doc: D | undefined, event: RecordedEvent, id: string): D | undefined;
}

/** Whether a reader may rely on it: how far it has come, and what stopped it. */
export interface ProjectorStatus {
  readonly name: string;
  readonly caughtUp: boolean;
  readonly checkpoint: string | null;
  readonly failure?: string;
}
