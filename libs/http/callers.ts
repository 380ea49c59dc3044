/** Caller of a request, attached to it by the guard. */
export interface Caller {
  readonly userId: string;
  readonly apiKeyId: string;
  /** Workspaces that the request may read and change: the named one, else all of which the user is a member. */
  readonly workspaceIds: readonly string[];
  /** Whether the key may not change anything. */
  readonly isReadOnly?: boolean;
  /** Names of the tools that the key opens, and nothing else; absent for a key that is not for tools only. */
  readonly tools?: ReadonlySet<string>;
  /** Epoch milliseconds at which the key ends; absent for one without end. */
  readonly keyExpiresAt?: number;
  /** Role of the user in a workspace; undefined when not a member. Absent where there are no roles: all are owners. */
  readonly roleIn?: (workspaceId: string) => 'owner' | 'member' | 'read_only' | undefined;
  /** Workspace that the request names. Lists hold only its resources. */
  readonly named?: string;
  /** Workspace made with the user's account. Absent once the user has left it. */
  readonly home?: string;
  /** All workspaces of the user, regardless of the named one. Defaults to `workspaceIds`. */
  readonly memberships?: readonly string[];
  /** Whether a workspace with this id exists, to tell 404 from 403. Absent when that is unknown. */
  readonly isWorkspace?: (workspaceId: string) => boolean;
}

/** Finds a caller in memory by the SHA-256 hash of its API key in hex. Called for every request. */
export interface Callers {
  callerOf(keyHash: string): Caller | undefined;
}
export const CALLERS = Symbol('Callers');
