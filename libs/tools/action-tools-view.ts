import {
  type ComponentDeleted,
  type ComponentEvent,
  isNewerVersion,
  REGISTRY_WORKSPACE,
} from '#libs/components/published.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { actionFacts, type ActionTool } from './domain/tool-list.js';

/** A saved component of type action with a key. */
interface Version {
  readonly workspaceId: string;
  readonly version: string;
  readonly updatedAt: number;
  readonly tool: ActionTool;
}

/** The actions with a key of every workspace. Those of the registry are left out, because callers name them. */
export class ActionToolsView implements LiveView {
  private readonly versions = new Map<string, Version>();
  /** The newest version by workspace and key, with the time of the first one. */
  private readonly newest = new Map<string, Map<string, Version>>();

  /** The newest version of each key, as in a reference by key. */
  *of(workspaceId: string): Iterable<ActionTool> {
    for (const { tool } of this.newest.get(workspaceId)?.values() ?? []) yield tool;
  }

  apply(recorded: RecordedEvent): void {
    if (!isComponentEvent(recorded) || recorded.metadata.workspaceId === REGISTRY_WORKSPACE) return;
    const id = idOf(recorded.stream);
    const known = this.versions.get(id);
    if (recorded.type === 'ComponentDeleted') return this.remove(id, known);
    const version = versionOf(id, recorded, known);
    if (!version) return;
    this.versions.set(id, version);
    const byKey = this.newest.get(version.workspaceId) ?? new Map<string, Version>();
    this.newest.set(version.workspaceId, byKey);
    const before = byKey.get(version.tool.key);
    if (!before) byKey.set(version.tool.key, version);
    else if (before.tool.componentId === id || isNewerVersion(version, before))
      byKey.set(version.tool.key, { ...version, tool: { ...version.tool, createdAt: before.tool.createdAt } });
  }

  /** The newest version that is left offers the tool, with the time of the first one. */
  private remove(id: string, known: Version | undefined): void {
    if (!known) return;
    const { workspaceId, tool } = known;
    this.versions.delete(id);
    const byKey = this.newest.get(workspaceId);
    const shown = byKey?.get(tool.key);
    if (shown?.tool.componentId !== id) return;
    let next: Version | undefined;
    for (const version of this.versions.values()) {
      if (version.workspaceId !== workspaceId || version.tool.key !== tool.key) continue;
      if (!next || isNewerVersion(version, next)) next = version;
    }
    if (next) byKey?.set(tool.key, { ...next, tool: { ...next.tool, createdAt: shown.tool.createdAt } });
    else byKey?.delete(tool.key);
  }
}

const TYPES: readonly string[] = [
  'ComponentSaved',
  'ComponentSavedAgain',
  'ComponentPackagesRefreshed',
  'ComponentDeleted',
] satisfies ComponentEvent['type'][];

const isComponentEvent = (event: RecordedEvent): event is RecordedEvent & ComponentEvent => TYPES.includes(event.type);

/** Undefined for a component that is no action with a key. */
const versionOf = (
  id: string,
  event: RecordedEvent & Exclude<ComponentEvent, ComponentDeleted>,
  known: Version | undefined,
): Version | undefined => {
  const { savedAt: updatedAt } = event.data;
  if (event.type === 'ComponentSavedAgain') return known && { ...known, updatedAt };
  const { kind, key, version, annotations, configurableProps, hasAdditionalProps = false } = event.data;
  if (kind !== 'action' || key === null) return undefined;
  const facts = actionFacts({ annotations, configurableProps, hasAdditionalProps });
  const createdAt = known?.tool.createdAt ?? updatedAt;
  return {
    workspaceId: known?.workspaceId ?? event.metadata.workspaceId,
    version,
    updatedAt,
    tool: { componentId: id, key, createdAt, isOfRegistry: false, ...facts },
  };
};
