/** What this context needs from outside, declared by it; the composition root provides it under these tokens. */
import { type Observation } from './published.js';

/** `HookRunner` of published.ts. */
export const HOOK_RUNNER = Symbol('HookRunner');
/** `SourceTopics` of published.ts. */
export const SOURCE_TOPICS = Symbol('SourceTopics');
/** `EndpointUrls` of domain/source-view.ts. */
export const ENDPOINT_URLS = Symbol('EndpointUrls');
export const MANUAL_RUNS = Symbol('ManualRuns');

export interface ManualRun {
  readonly invocationId: string;
  /** What the run did, in order; only after waiting for it. */
  readonly observations?: readonly Observation[];
}

export interface ManualRuns {
  /**
   * Resolves when the invocation is durable, or with `wait` when the run has ended (also when it threw). `event`
   * undefined: what the first timer of the source would send, `{}` for a source without one.
   */
  run(sourceId: string, workspaceId: string, event: unknown, wait: boolean): Promise<ManualRun>;
}
