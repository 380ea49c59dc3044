import { DomainError } from '#libs/kernel/domain-error.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { shownId } from '#libs/kernel/ids.js';
import { nearMiss } from '#libs/kernel/near-miss.js';
import { type Role, type WorkspaceEvent } from './published.js';

export interface RegisteredWorkspace {
  readonly workspaceId: string;
  readonly name: string;
  /** Roles by user id. */
  readonly members: ReadonlyMap<string, Role>;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** Every workspace of the event log that is not deleted, oldest first, for the command line. */
export class WorkspaceRegister {
  private readonly byId = new Map<string, RegisteredWorkspace>();

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & WorkspaceEvent;
    const id = idOf(event.stream);
    switch (event.type) {
      case 'WorkspaceCreated': {
        const { workspaceId, name, ownerId, createdAt } = event.data;
        this.byId.set(id, { workspaceId, name, members: new Map([[ownerId, 'owner']]), createdAt });
        return;
      }
      case 'WorkspaceRenamed':
        this.change(id, () => ({ name: event.data.name }));
        return;
      case 'WorkspaceMemberAdded':
      case 'WorkspaceMemberRoleChanged': {
        const { userId, role } = event.data;
        this.change(id, ({ members }) => ({
          members: new Map(members).set(userId, role ?? members.get(userId) ?? 'member'),
        }));
        return;
      }
      case 'WorkspaceMemberRemoved':
        this.change(id, ({ members }) => ({
          members: new Map([...members].filter(([userId]) => userId !== event.data.userId)),
        }));
        return;
      case 'WorkspaceDeleted':
        this.byId.delete(id);
        return;
      default:
    }
  }

  all(): readonly RegisteredWorkspace[] {
    return [...this.byId.values()];
  }

  /** Workspaces of which a user is a member. */
  of(userId: string): readonly RegisteredWorkspace[] {
    return this.all().filter(({ members }) => members.has(userId));
  }

  /** Workspaces without an owner. Only the operator can assign one. */
  withoutOwner(): readonly RegisteredWorkspace[] {
    return this.all().filter(({ members }) => ![...members.values()].includes('owner'));
  }

  /** Finds a workspace by id or name. Throws workspace.not_found, or request.invalid_parameter for several. */
  find(which: string): RegisteredWorkspace {
    const named = this.all().filter(({ name }) => name === which);
    const found = this.byId.get(which) ?? named[0];
    if (!found) {
      const meant = nearMiss(
        which,
        this.all().flatMap(({ workspaceId, name }) => [name, workspaceId]),
      );
      const hint =
        meant === undefined
          ? 'give its id or name, as `sluice admin workspace list` shows it'
          : `did you mean ${meant}?`;
      throw new DomainError('workspace.not_found', `there is no workspace ${shownId(which)}: ${hint}`, {
        field: 'workspace',
      });
    }
    if (named.length > 1 && found.workspaceId !== which) {
      const ids = named.map(({ workspaceId }) => workspaceId).join(', ');
      const message = `${named.length} workspaces have the name ${shownId(which)}: name one of them by its id: ${ids}`;
      throw new DomainError('request.invalid_parameter', message, { field: 'workspace', actual: shownId(which) });
    }
    return found;
  }

  private change(id: string, to: (former: RegisteredWorkspace) => Partial<RegisteredWorkspace>): void {
    const former = this.byId.get(id);
    if (former) this.byId.set(id, { ...former, ...to(former) });
  }
}
