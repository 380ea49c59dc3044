import { timingSafeEqual } from 'node:crypto';
import { type Clock, systemClock } from '#libs/kernel/clock.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { plainEmail } from './domain/user.js';
import { Homes } from './homes.js';
import { type ApiKeyEvent, type Role, type UserEvent, type WorkspaceEvent } from './published.js';
import { type Caller, type Callers } from '#libs/http/callers.js';

interface Key {
  readonly keyId: string;
  readonly userId: string;
  readonly hash: Buffer;
  readonly readOnly: boolean;
  /** Epoch milliseconds; Infinity for a key without end. */
  readonly expiresAt: number;
  /** Absent for a key that is not for tools only. */
  readonly tools?: ReadonlySet<string>;
  handedOver: boolean;
}

const NO_ROLES: ReadonlyMap<string, Role> = new Map();

/** In-memory index of API keys and workspace memberships, read on every request. */
export class CallersView implements LiveView, Callers {
  private readonly byHash = new Map<string, Key>();
  private readonly hashOfKey = new Map<string, string>();
  /** Roles of each user by workspace, in the order in which the user joined. */
  private readonly rolesOf = new Map<string, ReadonlyMap<string, Role>>();
  private readonly homes = new Homes();
  private readonly workspaces = new Set<string>();
  private readonly usernamesByEmail = new Map<string, readonly string[]>();
  private readonly watchers: ((workspaces: number) => void)[] = [];
  private readonly isWorkspace = (id: string): boolean => this.workspaces.has(id);

  constructor(private readonly clock: Clock = systemClock) {}

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & (UserEvent | WorkspaceEvent | ApiKeyEvent);
    this.homes.apply(recorded);
    switch (event.type) {
      case 'UserRegistered': {
        const email = plainEmail(event.data.email);
        this.usernamesByEmail.set(email, [...this.usernamesOf(email), event.data.username]);
        return;
      }
      case 'WorkspaceCreated':
        this.workspaces.add(event.data.workspaceId);
        this.join(event.data.ownerId, event.data.workspaceId, 'owner');
        for (const watch of this.watchers) watch(this.workspaces.size);
        return;
      case 'WorkspaceMemberAdded':
      case 'WorkspaceMemberRoleChanged':
        this.join(event.data.userId, idOf(event.stream), event.data.role);
        return;
      case 'WorkspaceMemberRemoved':
        this.leave(event.data.userId, idOf(event.stream));
        return;
      case 'WorkspaceDeleted':
        this.workspaces.delete(idOf(event.stream));
        for (const userId of this.rolesOf.keys()) this.leave(userId, idOf(event.stream));
        for (const watch of this.watchers) watch(this.workspaces.size);
        return;
      case 'ApiKeyIssued':
      case 'ToolsKeyIssued': {
        const { keyId, userId, keyHash, readOnly = false, expiresAt = Infinity } = event.data;
        const hash = Buffer.from(keyHash, 'hex');
        const tools = event.type === 'ToolsKeyIssued' ? { tools: new Set(event.data.tools) } : {};
        this.byHash.set(keyHash, { keyId, userId, hash, readOnly, expiresAt, ...tools, handedOver: false });
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

  workspaceIds(): Iterable<string> {
    return this.workspaces;
  }

  /** Calls `watch` with the number of workspaces whenever one was created or deleted. It must not throw. */
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
    if (key.expiresAt <= this.clock.now()) return undefined;
    const roles = this.rolesOf.get(key.userId) ?? NO_ROLES;
    const home = this.homes.of(key.userId);
    return {
      userId: key.userId,
      apiKeyId: key.keyId,
      workspaceIds: [...roles.keys()],
      isReadOnly: key.readOnly,
      ...(home !== undefined && roles.has(home) ? { home } : {}),
      ...(key.expiresAt === Infinity ? {} : { keyExpiresAt: key.expiresAt }),
      ...(key.tools ? { tools: key.tools } : {}),
      roleIn: (workspaceId) => roles.get(workspaceId),
      isWorkspace: this.isWorkspace,
    };
  }

  /** Whether the key is in force and its user a member of the workspace. */
  mayRead(apiKeyId: string, workspaceId: string): boolean {
    const key = this.keyOf(apiKeyId);
    if (key === undefined || key.expiresAt <= this.clock.now()) return false;
    return this.rolesOf.get(key.userId)?.has(workspaceId) === true;
  }

  isMember(userId: string, workspaceId: string): boolean {
    return this.rolesOf.get(userId)?.has(workspaceId) === true;
  }

  /** Number of a user's issued and unrevoked keys that may change any resource and never expire. */
  usableKeys(userId: string): number {
    let count = 0;
    for (const { userId: of, handedOver, readOnly, expiresAt, tools } of this.byHash.values())
      if (of === userId && handedOver && !readOnly && expiresAt === Infinity && !tools) count++;
    return count;
  }

  private keyOf(keyId: string): Key | undefined {
    const key = this.byHash.get(this.hashOfKey.get(keyId) ?? '');
    // Two key ids may carry the same key text.
    return key?.keyId === keyId ? key : undefined;
  }

  private leave(userId: string, workspaceId: string): void {
    const roles = new Map(this.rolesOf.get(userId));
    if (roles.delete(workspaceId)) this.rolesOf.set(userId, roles);
  }

  private join(userId: string, workspaceId: string, role: Role): void {
    const roles = new Map(this.rolesOf.get(userId));
    this.rolesOf.set(userId, roles.set(workspaceId, role));
  }
}
