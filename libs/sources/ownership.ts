/** What the context of workflows sees of the sources that belong to workflows. Part of published.ts. */
import { type ResolvedComponent } from '#libs/components/published.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type DeploymentPlan } from './deploy-source/source-deployments.js';
import { type SourceDefinition } from './published.js';
import { type UpdatePlan } from './update-source/source-updates.js';

/** The trigger that a source belongs to. It is changed and deleted with its workflow only. */
export interface SourceOwner {
  readonly workflowId: string;
  /** Name of the trigger. */
  readonly trigger: string;
}

/** Token under which SourcesModule provides its OwnedSources. */
export const OWNED_SOURCES = Symbol('OwnedSources');

/** A source as the trigger of a workflow wants it. */
export interface WantedSource {
  /** Name of the trigger. */
  readonly trigger: string;
  readonly sourceId: string;
  /** No source of this id exists. */
  readonly isNew: boolean;
  readonly component: ResolvedComponent;
  readonly props: Readonly<Record<string, unknown>>;
}

export interface OwnedSource {
  readonly trigger: string;
  readonly sourceId: string;
}

export interface PlannedSource extends OwnedSource {
  readonly definition: SourceDefinition;
  readonly warnings: readonly Warning[];
  /** False when code and props stay. */
  readonly isChanged: boolean;
  readonly plan: DeploymentPlan | UpdatePlan;
}

export interface OwnedSourcesChange {
  readonly workflowId: string;
  /** The sources of the workflow after the change. One that is not planned keeps its code and props. */
  readonly sources: readonly (OwnedSource | PlannedSource)[];
  readonly removed: readonly OwnedSource[];
  /** Whether the workflow, and so its sources, are active after the change. */
  readonly active: boolean;
  readonly ignoreHookErrors: boolean;
  readonly context: CommandContext;
}

/** Implemented by the sources context. Changes the sources of a workflow together with it (docs/adr/0074). */
export interface OwnedSources {
  /** Stores nothing but data stores of unused names. Rejects with what refuses the component or the props. */
  plan(wanted: WantedSource, context: CommandContext): Promise<PlannedSource>;
  /**
   * Runs the hooks, then `commit`, which makes the change of the workflow in one write under the given context, and then
   * puts the sources in force. When a hook fails, nothing is changed, and it rejects with source.hook_failed, whose
   * details name the trigger.
   */
  carryOut<T extends { readonly position: Position | undefined }>(
    change: OwnedSourcesChange,
    commit: (context: CommandContext) => Promise<T>,
  ): Promise<T>;
}
