import { type SourceDefinition } from '../sources/published.js';
import { type HookName } from '../component-model/hooks.js';

/** A hook as a source is to run it. */
export interface HookCall {
  readonly hook: HookName;
  readonly definition: SourceDefinition;
  readonly workspaceId: string;
  readonly executionId: string;
  readonly timeoutMs: number;
}
