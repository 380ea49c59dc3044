import { v5 as uuidV5 } from 'uuid';
import { positionOf, type DomainEvent, type EventMetadata, type RecordedEvent } from '../events.js';

const NAMESPACE = 'b1d0c4a6-7f0e-5a52-9a39-2f3f4c1de7aa';

export interface RecordedOptions {
  readonly revision?: number;
  readonly position?: number;
  readonly recordedAt?: number;
  readonly metadata?: Partial<EventMetadata>;
}

/** Makes an event as the log would return it, for specs of projections, views and policies. */
export const recorded = <E extends DomainEvent>(
  stream: string,
  event: E,
  { revision = 0, position = 1, recordedAt = 1_700_000_000_000, metadata = {} }: RecordedOptions = {},
): RecordedEvent<E> => {
  const id = uuidV5(`${stream}@${revision}`, NAMESPACE);
  return {
    id,
    type: event.type,
    data: event.data,
    stream,
    revision: BigInt(revision),
    position: positionOf(position),
    recordedAt,
    metadata: {
      $correlationId: 'corr-1',
      $causationId: 'cmd-1',
      commandId: 'cmd-1',
      actor: { userId: 'u_1', apiKeyId: 'key_1' },
      workspaceId: 'o_1',
      schemaVersion: 1,
      ...metadata,
    },
  };
};

export type HistoryEntry = readonly [stream: string, event: DomainEvent, options?: RecordedOptions];

/** Makes events of several streams in log order. Revisions count per stream, positions over all. */
export const history = (...entries: readonly HistoryEntry[]): RecordedEvent[] => {
  const next = new Map<string, number>();
  return entries.map(([stream, event, options], index) => {
    const revision = next.get(stream) ?? 0;
    next.set(stream, revision + 1);
    return recorded(stream, event, { revision, position: index + 1, ...options });
  });
};
