export { notificationsContext } from './context.js';
export { type ErrorEmailsDoc, errorEmailsProjection } from './read-models/error-emails.projection.js';
