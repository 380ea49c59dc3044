/** What other contexts and the roles may know of users, workspaces and API keys. */
export interface UserRegistered {
  readonly type: 'UserRegistered';
  readonly data: {
    readonly userId: string;
    readonly username: string;
    readonly email: string;
    readonly registeredAt: number;
  };
}
/**
 * On the stream that the name stands for: the name is taken, and these random ids are its user's. A name that was taken
 * before ids were random has UserRegistered there.
 */
export interface UsernameReserved {
  readonly type: 'UsernameReserved';
  readonly data: {
    readonly username: string;
    readonly email: string;
    readonly userId: string;
    /** Of the workspace made for the user. */
    readonly workspaceId: string;
    readonly reservedAt: number;
  };
}
export type UserEvent = UsernameReserved | UserRegistered;

export interface WorkspaceCreated {
  readonly type: 'WorkspaceCreated';
  readonly data: {
    readonly workspaceId: string;
    readonly orgname: string;
    readonly name: string;
    readonly email: string;
    readonly ownerId: string;
    readonly createdAt: number;
  };
}
export interface WorkspaceMemberAdded {
  readonly type: 'WorkspaceMemberAdded';
  readonly data: { readonly userId: string; readonly addedAt: number };
}
export type WorkspaceEvent = WorkspaceCreated | WorkspaceMemberAdded;

export interface ApiKeyIssued {
  readonly type: 'ApiKeyIssued';
  readonly data: {
    readonly keyId: string;
    readonly userId: string;
    readonly name: string;
    /** SHA-256 hex of the key; the key itself is shown once and kept nowhere. */
    readonly keyHash: string;
    readonly issuedAt: number;
  };
}
export interface ApiKeyRevoked {
  readonly type: 'ApiKeyRevoked';
  readonly data: { readonly revokedAt: number };
}
/** A key made at start was printed: until then a new start replaces it, for nobody can have it (set-up-user). */
export interface ApiKeyHandedOver {
  readonly type: 'ApiKeyHandedOver';
  readonly data: { readonly handedOverAt: number };
}
export type ApiKeyEvent = ApiKeyIssued | ApiKeyHandedOver | ApiKeyRevoked;

/** What a workspace has used since 00:00 UTC (decisions.md 1.10). */
export interface DailyUsage {
  readonly invocations: number;
  /** Milliseconds of runs. */
  readonly computeMs: number;
  /** One for each started 30 s of a run. */
  readonly credits: number;
}
export interface Usage {
  ofToday(workspaceId: string): Promise<DailyUsage>;
}
/** Counters that every runner adds to. */
export interface UsageStore {
  /** `day`: days since 1970-01-01 UTC. Adds; a crash of the process may lose the additions of its last second. */
  add(day: number, used: ReadonlyMap<string, DailyUsage>): Promise<void>;
  /** Zeros where nothing was added. */
  of(day: number, workspaceId: string): Promise<DailyUsage>;
}
export const USAGE = Symbol('Usage');
