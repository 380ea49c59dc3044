import { integer, listOf, milliseconds, named, object, oneOf, text, type TypeOf } from '#libs/http/reply-schema.js';
import { ApiKey } from '../api-key-reply.js';
import { type DailyUsage, ROLES } from '../published.js';
import { type WorkspaceDoc } from '../read-models/workspaces.projection.js';

/** Stands for "unlimited". See docs/reference/rest-api.md#quotas. */
export const UNLIMITED = 2_147_483_647;

const quota = (of: string) => integer(`${of} that a UTC day allows; 2,147,483,647 stands for unlimited`);

const quotaFields = {
  daily_compute_time_quota: quota('Milliseconds of runs'),
  daily_compute_time_used: milliseconds('Milliseconds of runs since 00:00 UTC'),
  daily_invocations_quota: quota('Runs'),
  daily_invocations_used: integer('Runs since 00:00 UTC'),
};

/** Workspace as in docs/reference/rest-api.md#workspace-fields. */
export const Workspace = named('Workspace', {
  id: text('`o_…`'),
  orgname: text('Unique name'),
  name: text('Name for people'),
  email: text('Address'),
  daily_credits_quota: quota('Credits'),
  daily_credits_used: integer('One for each begun 30 s of a run, since 00:00 UTC'),
  ...quotaFields,
});

const MyWorkspace = named('MyWorkspace', {
  ...Workspace.fields,
  role: oneOf(ROLES, 'What the user may do in the workspace'),
});

/** User as in docs/reference/rest-api.md#user-fields. Usage is summed over the workspaces. */
export const User = named('User', {
  id: text('`u_…`'),
  username: text('Unique name'),
  email: text('Address'),
  ...quotaFields,
  api_key: object(
    {
      id: ApiKey.fields.id,
      name: ApiKey.fields.name,
      read_only: ApiKey.fields.read_only,
      expires_at: ApiKey.fields.expires_at,
    },
    'Key of the request',
  ),
  orgs: listOf(MyWorkspace, 'Workspaces of the user'),
});

/** Only credits have a limit (docs/reference/limits.md#daily-quotas). */
export const usageReply = (used: Omit<DailyUsage, 'credits'>) => ({
  daily_compute_time_quota: UNLIMITED,
  daily_compute_time_used: used.computeMs,
  daily_invocations_quota: UNLIMITED,
  daily_invocations_used: used.invocations,
});

export type WorkspaceReply = TypeOf<typeof Workspace>;

export const workspaceReply = (
  { id, orgname, name, email }: WorkspaceDoc,
  usage: DailyUsage,
  dailyCredits: number,
): WorkspaceReply => ({
  id,
  orgname,
  name,
  email,
  daily_credits_quota: dailyCredits === 0 ? UNLIMITED : dailyCredits,
  daily_credits_used: usage.credits,
  ...usageReply(usage),
});
