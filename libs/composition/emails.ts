import { type Config } from '#libs/config/index.js';
import { startMailWorker } from '#libs/mail/mail-worker.js';
import { type Mailer } from '#libs/mail/mailer.js';
import { smtpMailer } from '#libs/mail/smtp-mailer.js';
import { type ErrorEmailsDoc, errorEmailsProjection } from '#libs/notifications/index.js';
import { type UserDoc, usersProjection } from '#libs/tenancy/index.js';
import { type RoleProcess } from './roles/role-process.js';

/** Sends errors by email, if this server has a mail server. */
export const startEmails = async (
  { config, plane, logger, metrics, closing }: Pick<RoleProcess, 'config' | 'plane' | 'logger' | 'metrics' | 'closing'>,
  publicUrl: string,
): Promise<void> => {
  const { engines, views, clock } = plane;
  const mailer = mailerOf(config, publicUrl);
  if (!mailer) return;
  const { readModels } = engines;
  const worker = await startMailWorker({
    log: engines.log,
    mailer,
    notes: engines.records,
    due: engines.due,
    recipientOf: async (emitterId, workspaceId) => {
      const told = emitterId.startsWith('p_') ? authorOf(views, emitterId) : await switchedOnBy(plane, emitterId);
      if (!told || !views.callers.isMember(told.userId, workspaceId)) return undefined;
      const user = await readModels.get<UserDoc>(usersProjection.schema, told.userId);
      return user && { email: user.email, name: told.name };
    },
    publicUrl,
    clock,
    metrics: metrics.mail,
    logger,
  });
  closing('emails', () => worker.close());
};

interface ToldOfErrors {
  readonly userId: string;
  /** Of the source or workflow. */
  readonly name: string;
}

/** Undefined when the settings of the workflow ask for no mails. */
const authorOf = ({ workflows }: RoleProcess['plane']['views'], workflowId: string): ToldOfErrors | undefined => {
  const workflow = workflows.find(workflowId);
  return workflow?.settings.errorNotification === true ? workflow : undefined;
};

/** Undefined when nobody has switched on the mails about the source. */
const switchedOnBy = async (
  { engines, views }: RoleProcess['plane'],
  sourceId: string,
): Promise<ToldOfErrors | undefined> => {
  const source = views.sources.find(sourceId);
  const on = await engines.readModels.get<ErrorEmailsDoc>(errorEmailsProjection.schema, sourceId);
  return source && on && { userId: on.userId, name: source.name };
};

/** Undefined when this server has no mail server. The caller closes it. */
export const mailerOf = ({ smtpUrl, smtpFrom }: Config, publicUrl: string): Mailer | undefined =>
  smtpUrl === null ? undefined : smtpMailer(smtpUrl, smtpFrom ?? `Sluice <sluice@${new URL(publicUrl).hostname}>`);
