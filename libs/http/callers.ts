/** Who calls. Attached to the request by the guard. */
export interface Caller {
  readonly userId: string;
  readonly apiKeyId: string;
  /** Workspaces that the request may read and change: the named one alone, else all that the user is a member of. */
  readonly workspaceIds: readonly string[];
  /** The workspace that the request names. Lists hold what belongs to it. */
  readonly named?: string;
  /** Every workspace of the user, whatever the request names. Absent: `workspaceIds`. */
  readonly memberships?: readonly string[];
  /** Whether a workspace with this id exists, to tell 404 from 403. Absent: not known. */
  readonly isWorkspace?: (workspaceId: string) => boolean;
}

/** Finds the caller by SHA-256 hex of the API key. In memory, for every request. */
export interface Callers {
  callerOf(keyHash: string): Caller | undefined;
}
export const CALLERS = Symbol('Callers');
