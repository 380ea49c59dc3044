import { type DailyUsage } from '../published.js';
import { type WorkspaceDoc } from '../read-models/workspaces.projection.js';

/** Stands for "unlimited". See docs/reference/rest-api.md#quota-unlimited. */
export const UNLIMITED = 2_147_483_647;

export const quotaReply = ({ computeMs, invocations }: Omit<DailyUsage, 'credits'>) => ({
  daily_compute_time_quota: UNLIMITED,
  daily_compute_time_used: computeMs,
  daily_invocations_quota: UNLIMITED,
  daily_invocations_used: invocations,
});

/** See docs/reference/rest-api.md#workspace-fields. */
export const workspaceReply = ({ id, orgname, name, email }: WorkspaceDoc, usage: DailyUsage) => ({
  id,
  orgname,
  name,
  email,
  daily_credits_quota: UNLIMITED,
  daily_credits_used: usage.credits,
  ...quotaReply(usage),
});
