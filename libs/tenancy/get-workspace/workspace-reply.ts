import { type DailyUsage } from '../published.js';
import { type WorkspaceDoc } from '../read-models/workspaces.projection.js';

/** Stands for "unlimited": the largest integer that every client can hold (decisions.md 1.10). */
export const UNLIMITED = 2_147_483_647;

export const quotaReply = ({ computeMs, invocations }: Omit<DailyUsage, 'credits'>) => ({
  daily_compute_time_quota: UNLIMITED,
  daily_compute_time_used: computeMs,
  daily_invocations_quota: UNLIMITED,
  daily_invocations_used: invocations,
});

/** rest-api.md, "Workspace". */
export const workspaceReply = ({ id, orgname, name, email }: WorkspaceDoc, usage: DailyUsage) => ({
  id,
  orgname,
  name,
  email,
  daily_credits_quota: UNLIMITED,
  daily_credits_used: usage.credits,
  ...quotaReply(usage),
});
