import { type BlobStore } from '#libs/kernel/blob-store.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { settingsOf } from './domain/settings.js';
import { workflowDecider, type WorkflowRecord, type WorkflowState } from './domain/workflow.js';
import { type VersionEntry, type WorkflowVersions } from './ports.js';
import {
  type DeployedVersion,
  type RunnableWorkflow,
  type RunnableWorkflows,
  type TimerTrigger,
  type ToolTrigger,
  type WorkflowEndpoint,
  type WorkflowTool,
} from './published.js';
import { isWorkflowEvent } from './read-models/workflows.projection.js';

/** The timers of an active workflow. */
export interface ArmedTriggers {
  readonly workspaceId: string;
  readonly timers: readonly TimerTrigger[];
  /** Epoch milliseconds of the last activation. */
  readonly switchedAt: number;
}

interface Row {
  readonly workspaceId: string;
  readonly state: WorkflowState;
  /** All versions by deployment, oldest first. */
  readonly versions: Map<string, VersionEntry>;
}

/** Every workflow of the log, for the roles that start or run it. */
export class WorkflowsView implements LiveView, WorkflowVersions {
  private readonly rows = new Map<string, Row>();
  private readonly endpoints = new Map<string, WorkflowEndpoint>();
  /** Ids by workspace and external id. */
  private readonly externals = new Map<string, string>();
  /** Ids of the active workflows with tools, by workspace. */
  private readonly withTools = new Map<string, Set<string>>();
  private readonly listeners = new Set<(workflowId: string) => void>();

  apply(event: RecordedEvent): void {
    if (!isWorkflowEvent(event)) return;
    const id = idOf(event.stream);
    const before = this.rows.get(id);
    const state = workflowDecider.evolve(before?.state ?? workflowDecider.initialState(), event);
    const { workspaceId, versions } = before ?? { workspaceId: event.metadata.workspaceId, versions: new Map() };
    if (event.type === 'WorkflowDeployed') {
      const { deploymentId: versionId, version, userId, versionHash, restoredFrom = null, deployedAt } = event.data;
      versions.set(versionId, { id: versionId, version, userId, versionHash, restoredFrom, deployedAt });
    }
    this.index(workspaceId, before?.state, state);
    if (state.status === 'exists') this.rows.set(id, { workspaceId, state, versions });
    else this.rows.delete(id);
    for (const listener of this.listeners) listener(id);
  }

  /** Undefined for a workflow that is unknown or deleted. */
  find(workflowId: string): RunnableWorkflow | undefined {
    const row = this.rows.get(workflowId);
    if (row?.state.status !== 'exists') return undefined;
    const { userId, name, active, deployed, draft } = row.state.workflow;
    return {
      id: workflowId,
      workspaceId: row.workspaceId,
      userId,
      name,
      active,
      deploymentId: deployed?.deploymentId ?? null,
      version: deployed?.version ?? null,
      draft: draft && { id: draft.draftId, settings: draft.settings },
      settings: deployed?.settings ?? DEFAULTS,
    };
  }

  /** Id of the workflow with this external id. */
  idOfExternal(externalId: string, workspaceId: string): string | undefined {
    return this.externals.get(externalKey(workspaceId, externalId));
  }

  /** The timers of a workflow, none while it is inactive. Undefined for one that is unknown or deleted. */
  armed(workflowId: string): ArmedTriggers | undefined {
    const row = this.rows.get(workflowId);
    if (row?.state.status !== 'exists') return undefined;
    const { active, deployed, switchedAt } = row.state.workflow;
    const triggers = active && deployed !== null ? deployed.triggers : [];
    const timers = triggers.filter((trigger): trigger is TimerTrigger => trigger.kind === 'timer');
    return { workspaceId: row.workspaceId, timers, switchedAt };
  }

  /** Workflows that exist. */
  *all(): Iterable<RunnableWorkflow> {
    for (const id of this.rows.keys()) {
      const workflow = this.find(id);
      if (workflow) yield workflow;
    }
  }

  /** Blob of a version or the draft. Undefined for a workflow that is unknown or deleted, and for another's version. */
  versionHash(workflowId: string, id: string): string | undefined {
    const row = this.rows.get(workflowId);
    const draft = row?.state.status === 'exists' ? row.state.workflow.draft : null;
    return draft?.draftId === id ? draft.versionHash : row?.versions.get(id)?.versionHash;
  }

  versions(workflowId: string): readonly VersionEntry[] {
    return [...(this.rows.get(workflowId)?.versions.values() ?? [])].reverse();
  }

  /** The HTTP trigger with this key. Undefined while its workflow is inactive. */
  endpoint(key: string): WorkflowEndpoint | undefined {
    return this.endpoints.get(key);
  }

  /** The tools that the active workflows of a workspace offer. */
  *tools(workspaceId: string): Iterable<WorkflowTool> {
    for (const id of this.withTools.get(workspaceId) ?? []) {
      const state = this.rows.get(id)?.state;
      if (state?.status !== 'exists') continue;
      const { workflowId, name: workflowName, createdAt } = state.workflow;
      for (const trigger of toolsIn(state)) yield { workflowId, workflowName, createdAt, trigger };
    }
  }

  /** Calls the listener after each event of a workflow, also after its last one. Returns how to unsubscribe. */
  onChange(listener: (workflowId: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private index(workspaceId: string, before: WorkflowState | undefined, after: WorkflowState): void {
    if (before?.status === 'exists') {
      const { workflow } = before;
      for (const [key] of endpointsOf(workflow, workspaceId)) this.endpoints.delete(key);
      const external = externalKey(workspaceId, workflow.externalId ?? '');
      if (this.externals.get(external) === workflow.workflowId) this.externals.delete(external);
    }
    this.indexTools(workspaceId, before, after);
    if (after.status !== 'exists') return;
    const { workflow } = after;
    for (const [key, endpoint] of endpointsOf(workflow, workspaceId)) this.endpoints.set(key, endpoint);
    if (workflow.externalId !== null)
      this.externals.set(externalKey(workspaceId, workflow.externalId), workflow.workflowId);
  }

  private indexTools(workspaceId: string, before: WorkflowState | undefined, after: WorkflowState): void {
    const ids = this.withTools.get(workspaceId) ?? new Set();
    // One that has tools still keeps its place.
    if (toolsIn(after).length === 0 && before?.status === 'exists') ids.delete(before.workflow.workflowId);
    if (after.status === 'exists' && toolsIn(after).length > 0) ids.add(after.workflow.workflowId);
    if (ids.size > 0) this.withTools.set(workspaceId, ids);
    else this.withTools.delete(workspaceId);
  }
}

const toolsIn = (state: WorkflowState): readonly ToolTrigger[] => {
  if (state.status !== 'exists' || !state.workflow.active) return [];
  return (state.workflow.deployed?.triggers ?? []).filter((trigger): trigger is ToolTrigger => trigger.kind === 'tool');
};

const DEFAULTS = settingsOf({});

const externalKey = (workspaceId: string, externalId: string): string => `${workspaceId}/${externalId}`;

const endpointsOf = (
  { workflowId, active, deployed }: WorkflowRecord,
  workspaceId: string,
): readonly (readonly [key: string, endpoint: WorkflowEndpoint])[] =>
  (active && deployed !== null ? deployed.triggers : []).flatMap((trigger) => {
    if (trigger.kind !== 'http') return [];
    const { id: triggerId, name: triggerName, key, response, staticResponse, auth } = trigger;
    return [[key, { workflowId, workspaceId, triggerId, triggerName, response, staticResponse, auth }]];
  });

/** Reads versions from the blobs that the view knows. */
export const runnableWorkflows = (view: WorkflowsView, blobs: Pick<BlobStore, 'get'>): RunnableWorkflows => ({
  find: (workflowId) => view.find(workflowId),
  idOfExternal: (externalId, workspaceId) => view.idOfExternal(externalId, workspaceId),
  version: async (workflowId, deploymentId) => {
    const hash = view.versionHash(workflowId, deploymentId);
    const text = hash === undefined ? undefined : await blobs.get(hash);
    return text === undefined ? undefined : (JSON.parse(text) as { readonly deployed: DeployedVersion }).deployed;
  },
});
