import { type EndedStream } from './stream-events/event-stream.js';
import { type StreamReader, type UnsentLimits } from './stream-events/unsent-bytes.js';

/** Ports of this context, which the composition root implements. */

/** KnownSources, whether deploying, active or inactive. Its `find` also finds workflows. */
export const EMITTERS = Symbol('KnownSources');

/** Implemented by the projector of the event summaries. */
export interface AppliedRecords {
  /** Resolves to true once the record is applied, and to false after the timeout. */
  waitApplied(lane: string, offset: number, timeoutMs: number): Promise<boolean>;
}
export const APPLIED_EVENTS = Symbol('AppliedRecords');

/** Limits of the readable events of a source and of a workspace. The oldest events are removed first. */
export interface KeptEvents {
  /** Number of events per emitter and channel. */
  readonly retained: number;
  /** Bytes per emitter, for its own channels together and for each channel of the platform. */
  readonly sourceBytes: number;
  readonly workspaceBytes: number;
}

export interface EventSettings extends KeptEvents {
  /** Bytes of unshortened events in one page. The page ends early when the next event does not fit. */
  readonly pageBytes: number;
}

export interface StreamSettings {
  /** Streams that a user may have open. A workspace may have five times as many, a process ten times. */
  readonly perUser: number;
  /** Bytes that streams may keep for readers that have not read them. */
  readonly unsent: UnsentLimits;
}

/** Services of a process for its open streams. */
export interface StreamPorts {
  readonly settings: StreamSettings;
  /** Whether the key is still in force and its user a member of the workspace. Called twice a second for each stream. */
  mayRead(apiKeyId: string, workspaceId: string): boolean;
  /** Whether the emitter is not deleted. */
  exists(emitterId: string): boolean;
  shuttingDown(): boolean;
  /** Called once for each stream that ends. */
  onEnded(ended: EndedStream & StreamReader): void;
}
export const STREAM_PORTS = Symbol('StreamPorts');

const MB = 1024 * 1024;
export const DEFAULT_EVENT_SETTINGS: EventSettings = {
  retained: 100,
  sourceBytes: 64 * MB,
  workspaceBytes: 512 * MB,
  pageBytes: 8 * MB,
};
export const EVENT_SETTINGS = Symbol('EventSettings');
