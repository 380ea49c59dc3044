import { type Config } from '#libs/config/index.js';
import { startMailWorker } from '#libs/mail/mail-worker.js';
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
  const { smtpUrl } = config;
  if (smtpUrl === null) return;
  const { readModels } = engines;
  const worker = await startMailWorker({
    log: engines.log,
    mailer: smtpMailer(smtpUrl, senderOf(config, publicUrl)),
    notes: engines.records,
    due: engines.due,
    recipientOf: async (sourceId, workspaceId) => {
      const source = views.sources.find(sourceId);
      const on = await readModels.get<ErrorEmailsDoc>(errorEmailsProjection.schema, sourceId);
      if (!source || !on || !views.callers.isMember(on.userId, workspaceId)) return undefined;
      const user = await readModels.get<UserDoc>(usersProjection.schema, on.userId);
      return user && { email: user.email, sourceName: source.name };
    },
    publicUrl,
    clock,
    metrics: metrics.mail,
    logger,
  });
  closing('emails', () => worker.close());
};

const senderOf = ({ smtpFrom }: Config, publicUrl: string): string =>
  smtpFrom ?? `Sluice <sluice@${new URL(publicUrl).hostname}>`;
