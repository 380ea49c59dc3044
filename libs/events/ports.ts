/** What this context asks of the others; the composition root answers it. */

export interface Emitters {
  /** A source that exists: deploying, active or not, but not deleted. */
  find(id: string): { readonly workspaceId: string } | undefined;
}
export const EMITTERS = Symbol('Emitters');

/** Answered by the projector of the event summaries. */
export interface AppliedRecords {
  /** True once the record is applied; false when that took longer. */
  waitApplied(lane: string, offset: number, timeoutMs: number): Promise<boolean>;
}
export const APPLIED_EVENTS = Symbol('AppliedRecords');

/** What is kept readable of the events of a source and of a workspace. Older events go first. */
export interface KeptEvents {
  /** Events, by emitter and channel. */
  readonly retained: number;
  /** So many channels' worth of events, by emitter. */
  readonly channels: number;
  /** Bytes, by emitter: its own channels together, and each channel of the platform. */
  readonly sourceBytes: number;
  readonly workspaceBytes: number;
}

export interface EventSettings extends KeptEvents {
  /** Bytes of unshortened events in one page: it ends early when the next event does not fit. */
  readonly pageBytes: number;
}

const MB = 1024 * 1024;
export const DEFAULT_EVENT_SETTINGS: EventSettings = {
  retained: 100,
  channels: 100,
  sourceBytes: 64 * MB,
  workspaceBytes: 512 * MB,
  pageBytes: 8 * MB,
};
export const EVENT_SETTINGS = Symbol('EventSettings');
