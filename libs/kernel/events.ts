/**
 * A fact in the past tense, named in full (`SourceDeployed`). `type` is an explicit string that stays in the log, never
 * a class name. `data` is plain JSON. Secrets and large payloads are referenced, not embedded (docs/adr/0001).
 */
export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}

export interface Actor {
  readonly userId: string;
  /** Null when the system acts on its own (bootstrap, reactors). */
  readonly apiKeyId: string | null;
}

/** Metadata of an event. Only `handleCommand` sets it, and deciders never see it. */
export interface EventMetadata {
  readonly $correlationId: string;
  readonly $causationId: string;
  readonly commandId: string;
  readonly actor: Actor;
  readonly workspaceId: string;
  /** Version of the event's data shape. Older ones are upcast on read (upcasting.ts). */
  readonly schemaVersion: number;
  readonly traceparent?: string;
  /** Epoch milliseconds of the event in its original installation. Only on imported events (`sluice import`). */
  readonly $recordedAt?: number;
  /**
   * Hash of the blob with the data, where the engine limits an event's size. The EventStore hides it from its readers.
   */
  readonly $data?: string;
}

export interface NewEvent<E extends DomainEvent = DomainEvent> {
  readonly id: string;
  readonly type: E['type'];
  readonly data: E['data'];
  readonly metadata: EventMetadata;
}

/**
 * Position in the log of all streams: 20 decimal digits, or two such numbers joined by `-` (EventStoreDB: commit and
 * prepare position). The width is fixed, so that text order is log order.
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
  /** Epoch milliseconds: `metadata.$recordedAt` if given, else the time of the append. */
  readonly recordedAt: number;
}

/** Returns `{category}-{id}`. A category contains no `-`, because it ends at the first one. */
export const streamName = (category: string, id: string): string => `${category}-${id}`;
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
