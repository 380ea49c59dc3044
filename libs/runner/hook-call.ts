import { type SourceDefinition } from '../sources/published.js';
import { type HookName } from '../component-model/hooks.js';

/** One call of a source's hook. */
export interface HookCall {
  readonly hook: HookName;
  readonly definition: SourceDefinition;
  readonly workspaceId: string;
  readonly executionId: string;
  readonly timeoutMs: number;
}
