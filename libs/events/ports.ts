/** Ports of this context, which the composition root implements. */
import { type StreamSource } from '#libs/event-streams/index.js';
import { type KnownSources } from '#libs/http/source-in-path.js';
import { type KnownWorkflows } from '#libs/http/workflow-in-path.js';

/** Sources, whether deploying, active or inactive, and workflows. `find` finds both, and webhooks. */
export type KnownEmitters = KnownSources & KnownWorkflows<{ readonly workspaceId: string }>;
export const EMITTERS = Symbol('KnownEmitters');

/** What other contexts show in the stream of a workspace. */
export type OtherStreams = readonly StreamSource[];
export const STREAM_SOURCES = Symbol('StreamSources');

/** Implemented by the projector of the event summaries. */
export interface AppliedRecords {
  /** Resolves to true once the record is applied, and to false after the timeout. */
  waitApplied(lane: string, offset: number, timeoutMs: number): Promise<boolean>;
}
export const APPLIED_EVENTS = Symbol('AppliedRecords');

/** A run of a source that has not ended. Times are epoch milliseconds. */
export interface UnfinishedRun {
  readonly id: string;
  readonly kind: string;
  readonly queuedAt: number;
  /** Null until it begins. */
  readonly startedAt: number | null;
}

/** Implemented by the runner of this process. */
export interface RunsUnderWay {
  /** Resolves with undefined when this process does not run the source. */
  unfinished(sourceId: string): Promise<
    | {
        readonly runs: readonly UnfinishedRun[];
        /** Offset up to which the records of the source's lane are among these runs or have ended. */
        readonly through: number;
      }
    | undefined
  >;
}
export const RUNS_UNDER_WAY = Symbol('RunsUnderWay');
/** Of a process without a runner. */
export const NO_RUNS_UNDER_WAY: RunsUnderWay = { unfinished: () => Promise.resolve(undefined) };

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

const MB = 1024 * 1024;
export const DEFAULT_EVENT_SETTINGS: EventSettings = {
  retained: 100,
  sourceBytes: 64 * MB,
  workspaceBytes: 512 * MB,
  pageBytes: 8 * MB,
};
export const EVENT_SETTINGS = Symbol('EventSettings');
