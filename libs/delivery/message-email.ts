import { type Clock } from '#libs/kernel/clock.js';
import { type EmailMessage, type SentMessage } from '#libs/stream-log/message-records.js';
import { EMAILS_A_DAY, EmailBudget, type EmailNotes } from './email-budget.js';
import { type MessageAttempt, refused } from './message-attempt.js';

export interface OutgoingEmail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  /** Equal for a repeat. The Message-ID begins with it. */
  readonly id: string;
}

export interface EmailRefusal {
  readonly reason: string;
  /** Whether the mail server would refuse the same email again. */
  readonly isFinal: boolean;
}

export interface EmailPorts {
  /** Resolves with why the mail server does not accept the email, and with undefined once it has. */
  readonly send: (email: OutgoingEmail) => Promise<EmailRefusal | undefined>;
  /** Address of the creator of the workflow while a member of the workspace. */
  readonly recipientOf: (workflowId: string, workspaceId: string) => Promise<string | undefined>;
  readonly notes: EmailNotes;
}

export type SendEmail = (sent: SentMessage, email: EmailMessage) => Promise<MessageAttempt>;

/** Sends emails to the creators of workflows. All attempts at one count once. */
export const emailSender = ({ send, recipientOf, notes }: EmailPorts, clock: Clock): SendEmail => {
  const budget = new EmailBudget(notes);
  return async ({ id, workflowId, workspaceId, attempt }, { subject, text, html }) => {
    const to = await recipientOf(workflowId, workspaceId);
    if (to === undefined) return refused('the creator of the workflow is no longer a member of the workspace');
    // A later attempt exists only because the first was allowed.
    if (attempt === 1 && !(await budget.allows(workflowId, id, clock.now())))
      return refused(`the workflow has sent ${EMAILS_A_DAY} emails in 24 hours, which is the limit`);
    const refusal = await send({ to, subject, text: text ?? '', html, id });
    if (!refusal) return { outcome: { kind: 'accepted' }, status: null, error: null };
    const { reason, isFinal } = refusal;
    return isFinal ? refused(reason) : { ...refused(reason), outcome: { kind: 'error', error: 'MAIL_SERVER' } };
  };
};
