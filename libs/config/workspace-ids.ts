const WORKSPACE = /^[A-Za-z0-9_-]{1,64}$/;

/** Ids of workspaces in a setting, null for `*`, which is all of them. Undefined for anything else. */
export const workspaceIds = (value: unknown): readonly string[] | null | undefined => {
  if (value === '*') return null;
  if (!Array.isArray(value)) return undefined;
  return value.every((each) => typeof each === 'string' && WORKSPACE.test(each)) ? (value as string[]) : undefined;
};
