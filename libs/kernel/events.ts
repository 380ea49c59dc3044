/**
 * A fact, past tense, named in full (`SourceDeployed`). `type` is an explicit string in the log for ever, never a class name.
 * `data` is plain JSON. Secrets and large payloads are referenced, not embedded (docs/adr/0001).
 */
export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}

export interface Actor {
  readonly userId: string;
  /** null when the system acts by itself (bootstrap, reactors). */
  readonly apiKeyId: string | null;
}

/** Set in one place, `handleCommand`; deciders never see it. */
export interface EventMetadata {
  readonly $correlationId: string;
  readonly $causationId: string;
  readonly commandId: string;
  readonly actor: Actor;
  readonly workspaceId: string;
  /** Version of the event's data shape; older ones are upcast on read (upcasting.ts). */
  readonly schemaVersion: number;
  readonly traceparent?: string;
  /** Epoch milliseconds; only on events that came from another installation (`sluice import`): when they happened there. */
  readonly $recordedAt?: number;
}

export interface NewEvent<E extends DomainEvent = DomainEvent> {
  readonly id: string;
  readonly type: E['type'];
  readonly data: E['data'];
  readonly metadata: EventMetadata;
}

/**
 * Place in the log of all streams: 20 decimal digits, or two such numbers joined by `-` (EventStoreDB: commit and
 * prepare position). Fixed width, so that text order is log order.
 */
export type Position = string;

export const isPosition = (text: string): boolean => /^\d{20}(-\d{20})?$/.test(text);
export const START: Position = '0'.padStart(20, '0');
export const positionOf = (n: bigint | number): Position => n.toString().padStart(20, '0');

export interface RecordedEvent<E extends DomainEvent = DomainEvent> extends NewEvent<E> {
  readonly stream: string;
  /** 0 for the first event of a stream. */
  readonly revision: bigint;
  readonly position: Position;
  /** Epoch milliseconds: `metadata.$recordedAt` where it is given, else when the engine appended it. */
  readonly recordedAt: number;
}

/** `{category}-{id}`; the category is the text before the first `-`, so it holds none. */
export const streamName = (category: string, id: string): string => `${category}-${id}`;
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
