/** Published contract of the tenancy context: users, workspaces and API keys. */
export interface UserRegistered {
  readonly type: 'UserRegistered';
  readonly data: {
    readonly userId: string;
    readonly username: string;
    readonly email: string;
    readonly registeredAt: number;
  };
}
/** Reserves a name, on the stream of that name, with the random ids of its user. */
export interface UsernameReserved {
  readonly type: 'UsernameReserved';
  readonly data: {
    readonly username: string;
    readonly email: string;
    readonly userId: string;
    /** Id of the workspace made for the user. */
    readonly workspaceId: string;
    readonly reservedAt: number;
  };
}
/** Reserves an address for a user, on the stream of that address. */
export interface EmailReserved {
  readonly type: 'EmailReserved';
  readonly data: {
    readonly email: string;
    readonly username: string;
    readonly userId: string;
    readonly reservedAt: number;
  };
}
export type UserEvent = UsernameReserved | EmailReserved | UserRegistered;

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
  readonly data: { readonly userId: string; readonly role: Role; readonly addedAt: number };
}
export interface WorkspaceMemberRoleChanged {
  readonly type: 'WorkspaceMemberRoleChanged';
  readonly data: { readonly userId: string; readonly role: Role; readonly changedAt: number };
}
export interface WorkspaceMemberRemoved {
  readonly type: 'WorkspaceMemberRemoved';
  readonly data: { readonly userId: string; readonly removedAt: number };
}
export interface WorkspaceRenamed {
  readonly type: 'WorkspaceRenamed';
  readonly data: { readonly name: string; readonly renamedAt: number };
}
/** The deletion of an empty workspace. From then on it has no members. */
export interface WorkspaceDeleted {
  readonly type: 'WorkspaceDeleted';
  readonly data: { readonly deletedAt: number };
}
export type WorkspaceEvent =
  | WorkspaceCreated
  | WorkspaceRenamed
  | WorkspaceMemberAdded
  | WorkspaceMemberRoleChanged
  | WorkspaceMemberRemoved
  | WorkspaceDeleted;

/** What a user may do in a workspace: manage its members, change its resources, read them. Each includes the next. */
export const ROLES = ['owner', 'member', 'read_only'] as const;
export type Role = (typeof ROLES)[number];

export interface ApiKeyIssued {
  readonly type: 'ApiKeyIssued';
  readonly data: {
    readonly keyId: string;
    readonly userId: string;
    readonly name: string;
    /** SHA-256 of the key in hexadecimal. The key itself is shown once and never stored. */
    readonly keyHash: string;
    /** Set for a key that may not change anything. */
    readonly readOnly?: true;
    /** Epoch milliseconds from which the key is refused; absent for one without end. */
    readonly expiresAt?: number;
    readonly issuedAt: number;
  };
}
/**
 * Issues a key for tools only. It has a type of its own, because a release that does not know `tools` would take an
 * ApiKeyIssued for a key that opens everything.
 */
export interface ToolsKeyIssued {
  readonly type: 'ToolsKeyIssued';
  readonly data: ApiKeyIssued['data'] & {
    /** Names of tools, and keys of actions, in the order given. */
    readonly tools: readonly string[];
  };
}
export interface ApiKeyRevoked {
  readonly type: 'ApiKeyRevoked';
  readonly data: { readonly revokedAt: number };
}
/** A key made at start was printed. Before this event a new start replaces the key, because no user has seen it. */
export interface ApiKeyHandedOver {
  readonly type: 'ApiKeyHandedOver';
  readonly data: { readonly handedOverAt: number };
}
export type ApiKeyEvent = ApiKeyIssued | ToolsKeyIssued | ApiKeyHandedOver | ApiKeyRevoked;

/** Usage of a workspace since 00:00 UTC. See docs/reference/rest-api.md#daily-usage. */
export interface DailyUsage {
  readonly invocations: number;
  /** Total duration of runs in milliseconds. */
  readonly computeMs: number;
  /** One for each started 30 s of a run. */
  readonly credits: number;
}
export interface Usage {
  ofToday(workspaceId: string): Promise<DailyUsage>;
}
/**
 * What is counted in each minute: requests to endpoints and to URLs of runs, runs, failed ones among them, events that
 * sources emitted, attempts at deliveries, and deliveries that were given up.
 */
export const MINUTE_COUNTS = ['arrivals', 'runs', 'errors', 'events', 'attempts', 'failed'] as const;
export type MinuteCount = (typeof MINUTE_COUNTS)[number];
export type MinuteCounts = Readonly<Record<MinuteCount, number>>;
export const NO_MINUTE_COUNTS: MinuteCounts = { arrivals: 0, runs: 0, errors: 0, events: 0, attempts: 0, failed: 0 };

/** What happened in a workspace in a minute, counted from 1970-01-01 UTC. */
export interface CountedMinute extends MinuteCounts {
  readonly workspaceId: string;
  readonly minute: number;
}

/** Minutes that a store keeps at least, before the newest that it was given. */
export const KEPT_MINUTES = 120;

/** Counters that every process of a role adds to. */
export interface UsageStore {
  /** Adds to a day, counted from 1970-01-01 UTC. A crash of the process may lose the counts of its last second. */
  add(day: number, used: ReadonlyMap<string, DailyUsage>): Promise<void>;
  /** Usage of a workspace on a day; zeros when nothing was added. */
  of(day: number, workspaceId: string): Promise<DailyUsage>;
  /** Adds to minutes, each with a workspace given once. Forgets old minutes. */
  addMinutes(counted: readonly CountedMinute[]): Promise<void>;
  /** Minutes of a workspace from one on, in their order. Those to which nothing was added are absent. */
  minutesOf(workspaceId: string, from: number): Promise<readonly CountedMinute[]>;
}
export const USAGE = Symbol('Usage');
