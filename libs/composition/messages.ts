import { type EmailPorts } from '#libs/delivery/message-email.js';
import { type ObjectPorts } from '#libs/delivery/message-object.js';
import { MESSAGE_GROUP, startMessageWorker } from '#libs/delivery/message-worker.js';
import { type Egress } from '#libs/egress/guarded-dispatcher.js';
import { MailRefused } from '#libs/mail/mailer.js';
import { MESSAGES } from '#libs/stream-log/topics.js';
import { type UserDoc, usersProjection } from '#libs/tenancy/index.js';
import { openBucket } from './buckets.js';
import { openOperatorEgress } from './egress.js';
import { mailerOf } from './emails.js';
import { type RoleProcess } from './roles/role-process.js';

export interface MessagesOptions {
  readonly egress: Pick<Egress, 'dispatcher'>;
  readonly publicUrl: string;
}

/** Sends the messages of workflows' steps, in lanes and a group of their own, in the role of the webhook worker. */
export const startMessages = async (
  own: RoleProcess,
  { egress: { dispatcher }, publicUrl }: MessagesOptions,
): Promise<void> => {
  const { plane, tables, topics, logger, closing, reportLag } = own;
  const { engines, clock, views } = plane;
  const { log, due } = engines;
  const exists = (workflowId: string): boolean => views.workflows.find(workflowId) !== undefined;
  const email = emailPorts(own, publicUrl);
  const objects = objectPorts(own);
  const worker = await startMessageWorker({
    log,
    due,
    topics,
    exists,
    tables,
    dispatcher,
    email,
    objects,
    clock,
    logger,
  });
  closing('messages', () => worker.close());
  reportLag({ group: MESSAGE_GROUP, prefix: MESSAGES, backlog: () => worker.backlog() });
};

/** Undefined when this server opens no bucket. */
const objectPorts = ({ config, logger, closing }: RoleProcess): ObjectPorts | undefined => {
  if (config.s3.length === 0) return undefined;
  const egress = openOperatorEgress(config, logger);
  closing('connections to buckets', () => egress.close());
  const bucketOf: ObjectPorts['bucketOf'] = (bucket, workspaceId) => openBucket(config, bucket, workspaceId);
  return { bucketOf, dispatcher: egress.dispatcher, logger };
};

/** Undefined when this server has no mail server. */
const emailPorts = ({ config, plane, logger, closing }: RoleProcess, publicUrl: string): EmailPorts | undefined => {
  const { engines, views } = plane;
  const mailer = mailerOf(config, publicUrl);
  if (!mailer) return undefined;
  closing('mailer of messages', async () => mailer.close());
  const { hostname } = new URL(publicUrl);
  return {
    async send({ id, html, ...mail }) {
      try {
        await mailer.send({ ...mail, messageId: `<${id}@${hostname}>`, ...(html === null ? {} : { html }) });
        return undefined;
      } catch (error) {
        if (error instanceof MailRefused) return { reason: error.message, isFinal: error.isFinal };
        // Addresses and names of the mail server are for its operator only.
        logger.warn({ message: id, err: error }, 'message.waits: the mail server cannot be used');
        return { reason: 'the mail server cannot be used now', isFinal: false };
      }
    },
    async recipientOf(workflowId, workspaceId) {
      const creator = views.workflows.find(workflowId)?.userId;
      if (creator === undefined || !views.callers.isMember(creator, workspaceId)) return undefined;
      return (await engines.readModels.get<UserDoc>(usersProjection.schema, creator))?.email;
    },
    notes: engines.records,
  };
};
