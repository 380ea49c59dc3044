import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type UserEvent, type WorkspaceEvent } from './published.js';

/**
 * The workspace created with each user's account, in which requests of the user that name no workspace act
 * (docs/reference/rest-api.md#acting-workspace). Leaving it ends that permanently, because only another member can add
 * the user again.
 */
export class Homes {
  /** Null once the user has left it. */
  private readonly byUser = new Map<string, string | null>();

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & (UserEvent | WorkspaceEvent);
    switch (event.type) {
      case 'UsernameReserved':
        this.byUser.set(event.data.userId, event.data.workspaceId);
        return;
      case 'WorkspaceMemberRemoved':
        this.left(event.data.userId, idOf(event.stream));
        return;
      case 'WorkspaceDeleted':
        for (const userId of this.byUser.keys()) this.left(userId, idOf(event.stream));
        return;
      default:
    }
  }

  of(userId: string): string | undefined {
    return this.byUser.get(userId) ?? undefined;
  }

  private left(userId: string, workspaceId: string): void {
    if (this.byUser.get(userId) === workspaceId) this.byUser.set(userId, null);
  }
}
