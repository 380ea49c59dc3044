import { timingSafeEqual } from 'node:crypto';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { plainEmail } from './domain/user.js';
import { type ApiKeyEvent, type UserEvent, type WorkspaceEvent } from './published.js';
import { type Caller, type Callers } from '../http/callers.js';

interface Key {
  readonly keyId: string;
  readonly userId: string;
  readonly hash: Buffer;
  handedOver: boolean;
}

/** In-memory index of API keys and workspace memberships, read on every request. */
export class CallersView implements LiveView, Callers {
  private readonly byHash = new Map<string, Key>();
  private readonly hashOfKey = new Map<string, string>();
  private readonly workspacesOf = new Map<string, readonly string[]>();
  private readonly workspaces = new Set<string>();
  private readonly usernamesByEmail = new Map<string, readonly string[]>();
  private readonly watchers: ((workspaces: number) => void)[] = [];
  private readonly isWorkspace = (id: string): boolean => this.workspaces.has(id);

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & (UserEvent | WorkspaceEvent | ApiKeyEvent);
    switch (event.type) {
      case 'UserRegistered': {
        const email = plainEmail(event.data.email);
        this.usernamesByEmail.set(email, [...this.usernamesOf(email), event.data.username]);
        return;
      }
      case 'WorkspaceCreated':
        this.workspaces.add(event.data.workspaceId);
        this.join(event.data.ownerId, event.data.workspaceId);
        for (const watch of this.watchers) watch(this.workspaces.size);
        return;
      case 'WorkspaceMemberAdded':
        this.join(event.data.userId, idOf(event.stream));
        return;
      case 'ApiKeyIssued': {
        const { keyId, userId, keyHash } = event.data;
        this.byHash.set(keyHash, { keyId, userId, hash: Buffer.from(keyHash, 'hex'), handedOver: false });
        this.hashOfKey.set(keyId, keyHash);
        return;
      }
      case 'ApiKeyHandedOver': {
        const key = this.keyOf(idOf(event.stream));
        if (key) key.handedOver = true;
        return;
      }
      case 'ApiKeyRevoked': {
        const keyId = idOf(event.stream);
        if (this.keyOf(keyId)) this.byHash.delete(this.hashOfKey.get(keyId) ?? '');
        this.hashOfKey.delete(keyId);
        return;
      }
      default:
    }
  }

  workspaceCount(): number {
    return this.workspaces.size;
  }

  /** Calls `watch` with the number of workspaces whenever one was created. It must not throw. */
  watchWorkspaces(watch: (workspaces: number) => void): void {
    this.watchers.push(watch);
  }

  /** Names of the registered users with an address. Several only in an installation from before addresses were unique. */
  usernamesOf(email: string): readonly string[] {
    return this.usernamesByEmail.get(plainEmail(email)) ?? [];
  }

  /** Finds the caller by the SHA-256 of the presented key, in hexadecimal. Compares digests in constant time. */
  callerOf(keyHash: string): Caller | undefined {
    const key = this.byHash.get(keyHash);
    const presented = Buffer.from(keyHash, 'hex');
    if (!key || key.hash.length !== presented.length || !timingSafeEqual(key.hash, presented)) return undefined;
    return {
      userId: key.userId,
      apiKeyId: key.keyId,
      workspaceIds: this.workspacesOf.get(key.userId) ?? [],
      isWorkspace: this.isWorkspace,
    };
  }

  /** Whether the key is in force and its user a member of the workspace. */
  mayRead(apiKeyId: string, workspaceId: string): boolean {
    const key = this.keyOf(apiKeyId);
    return key !== undefined && (this.workspacesOf.get(key.userId) ?? []).includes(workspaceId);
  }

  /** Number of a user's keys that were handed over and not revoked. */
  usableKeys(userId: string): number {
    let count = 0;
    for (const key of this.byHash.values()) if (key.userId === userId && key.handedOver) count++;
    return count;
  }

  private keyOf(keyId: string): Key | undefined {
    const key = this.byHash.get(this.hashOfKey.get(keyId) ?? '');
    // Two key ids may carry the same key text.
    return key?.keyId === keyId ? key : undefined;
  }

  private join(userId: string, workspaceId: string): void {
    const joined = this.workspacesOf.get(userId) ?? [];
    if (!joined.includes(workspaceId)) this.workspacesOf.set(userId, [...joined, workspaceId]);
  }
}
