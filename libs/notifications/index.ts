export { notificationsContext } from './context.js';
export { LeftMembersReactor } from './clean-up/left-members.reactor.js';
export { errorEmails } from './domain/error-emails.js';
export { NotificationsModule } from './notifications.module.js';
export { type ErrorEmailsDoc, errorEmailsProjection } from './read-models/error-emails.projection.js';
