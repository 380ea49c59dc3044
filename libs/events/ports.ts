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

export interface EventSettings {
  /** Events kept readable, by emitter and channel (decisions.md 1.8). */
  readonly retained: number;
}
export const DEFAULT_EVENT_SETTINGS: EventSettings = { retained: 100 };
export const EVENT_SETTINGS = Symbol('EventSettings');
