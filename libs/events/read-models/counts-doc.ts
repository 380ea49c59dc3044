import { type Doc } from '#libs/kernel/read-model-store.js';
import { type RunsHeaders } from '#libs/stream-log/envelopes.js';

/** The counts of a source, among the events in their read model. No key of it is a key of an event or a run. */
export interface CountsDoc extends Doc {
  readonly list: string;
  readonly family: string;
  readonly workspaceId: string;
  readonly sort: string;
  readonly bytes: number;
  /** As the newest record of its runs has them (stream-log/hour-counts.ts). */
  readonly counts: string;
}

export const countsDocId = (sourceId: string): string => `counts/${sourceId}`;

/** Each record carries all counts of its source, so the newest replaces the others. None without counts. */
export const countsDocs = ({ emitter, workspace, counts }: RunsHeaders): readonly CountsDoc[] => {
  if (counts === undefined) return [];
  const key = countsDocId(emitter);
  return [{ id: key, list: key, family: key, workspaceId: `counts/${workspace}`, sort: key, bytes: 0, counts }];
};
