import { type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type TokenHash } from '#libs/kernel/token-hash.js';
import { type VariableEvent } from './published.js';

export interface KnownVariable {
  readonly name: string;
  readonly valueRef: string;
  /** Epoch ms. */
  readonly updatedAt: number;
}

interface OfWorkspace {
  readonly byName: Map<string, KnownVariable>;
  /** Of the present values, by name. */
  readonly hashes: Map<string, TokenHash>;
  /** Position of the last change in the event log. */
  version: string;
}

/** Keeps the variables of every workspace in memory, without their values. */
export class VariablesView implements LiveView {
  private readonly workspaces = new Map<string, OfWorkspace>();

  /** The variables of a workspace, by name. */
  of(workspaceId: string): readonly KnownVariable[] {
    const known = [...(this.workspaces.get(workspaceId)?.byName.values() ?? [])];
    return known.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  has(workspaceId: string, name: string): boolean {
    return this.workspaces.get(workspaceId)?.byName.has(name) === true;
  }

  /** Hash of the present value. Undefined for one that is no token, and for a variable of which no hash is kept. */
  hashOf(workspaceId: string, name: string): TokenHash | undefined {
    return this.workspaces.get(workspaceId)?.hashes.get(name);
  }

  count(workspaceId: string): number {
    return this.workspaces.get(workspaceId)?.byName.size ?? 0;
  }

  /** Changes with every change of a variable of the workspace; empty while it has none. */
  versionOf(workspaceId: string): string {
    return this.workspaces.get(workspaceId)?.version ?? '';
  }

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & VariableEvent;
    const { workspaceId } = event.metadata;
    switch (event.type) {
      case 'VariableSet': {
        const { name, valueRef, hash, setAt } = event.data;
        const variables = this.workspaces.get(workspaceId) ?? { byName: new Map(), hashes: new Map(), version: '' };
        variables.byName.set(name, { name, valueRef, updatedAt: setAt });
        if (hash) variables.hashes.set(name, hash);
        else variables.hashes.delete(name);
        variables.version = event.position;
        this.workspaces.set(workspaceId, variables);
        return;
      }
      case 'VariableDeleted': {
        const variables = this.workspaces.get(workspaceId);
        if (!variables?.byName.delete(event.data.name)) return;
        variables.hashes.delete(event.data.name);
        variables.version = event.position;
        if (variables.byName.size === 0) this.workspaces.delete(workspaceId);
        return;
      }
      case 'VariableHashed': {
        const { name, hash } = event.data;
        // Without a hash there is no value, or it is no token. The values are as they were.
        if (hash) this.workspaces.get(workspaceId)?.hashes.set(name, hash);
        return;
      }
      default:
    }
  }
}
