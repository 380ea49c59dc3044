import { type ToolCaller } from './tool-list.js';

/** What the edge knows of a verified key and its user. */
export interface VerifiedKey {
  /** Whether the key may not change anything. */
  readonly isReadOnly?: boolean;
  /** Names of the tools that the key opens, and nothing else; absent for a key that is not for tools only. */
  readonly tools?: ReadonlySet<string>;
  /** Role of the user in a workspace; undefined when not a member. Absent where there are no roles: all are owners. */
  readonly roleIn?: (workspaceId: string) => 'owner' | 'member' | 'read_only' | undefined;
}

const MAY_CHANGE: ReadonlySet<string | undefined> = new Set(['owner', 'member']);

/** What a key may call in a workspace. Both limits of a key hold together, and so does the role of its user. */
export const toolCaller = ({ isReadOnly, tools, roleIn }: VerifiedKey, workspaceId: string): ToolCaller => ({
  isReadOnly: isReadOnly === true || (roleIn !== undefined && !MAY_CHANGE.has(roleIn(workspaceId))),
  allowed: tools ?? null,
});
