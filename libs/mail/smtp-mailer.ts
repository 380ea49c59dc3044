import { createTransport } from 'nodemailer';
import { asError } from '#libs/kernel/error-message.js';
import { type Mailer, MailRefused } from './mailer.js';

const CONNECT_MS = 10_000;
const ANSWER_MS = 30_000;
/** Commands of SMTP whose refusal concerns one mail, and not the connection or the account. */
const OF_ONE_MAIL = /^(MAIL FROM|RCPT TO|DATA|BDAT)/;

/** Sends with the library nodemailer. @param url as SLUICE_SMTP_URL. */
export const smtpMailer = (url: string, from: string): Mailer => {
  const transport = createTransport(
    {
      url,
      pool: true,
      maxConnections: 1,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: ANSWER_MS,
      // Texts of a mail may come from a user, so the library must never read a file or an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  );
  return {
    async send({ to, subject, text, html, messageId }) {
      try {
        await transport.sendMail({ to: { name: '', address: to }, subject, text, html, messageId });
      } catch (error) {
        throw refusalOf(error) ?? asError(error);
      }
    },
    close: () => transport.close(),
  };
};

const refusalOf = (error: unknown): MailRefused | undefined => {
  if (!(error instanceof Error)) return undefined;
  const { responseCode, command } = error as { responseCode?: unknown; command?: unknown };
  if (typeof responseCode !== 'number' || typeof command !== 'string' || !OF_ONE_MAIL.test(command)) return undefined;
  return new MailRefused(error.message, responseCode >= 500);
};
