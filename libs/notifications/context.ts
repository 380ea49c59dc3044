import { type Context } from '#libs/kernel/context.js';
import { LeftMembersReactor, type LeftMembersDependencies } from './clean-up/left-members.reactor.js';
import { errorEmails } from './domain/error-emails.js';
import { NotificationsModule, type NotificationsPorts } from './notifications.module.js';
import { errorEmailsProjection } from './read-models/error-emails.projection.js';

export const notificationsContext = {
  projections: [errorEmailsProjection],
  reactors: { 'left-members': (ports: LeftMembersDependencies) => new LeftMembersReactor(ports) },
  workspaceAudit: [errorEmails.category],
  module: (ports: NotificationsPorts) => NotificationsModule.forRoot(ports),
} as const satisfies Context;
