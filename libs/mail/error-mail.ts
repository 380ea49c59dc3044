import { type Mail } from './mailer.js';

/** An error of a source for a mail. */
export interface ErrorMailFacts {
  readonly to: string;
  readonly sourceId: string;
  readonly sourceName: string;
  /** Address of this server. */
  readonly publicUrl: string;
  /** Emit id of the error event. */
  readonly emit: string;
  /** JSON text of the error event (docs/reference/component-model.md#error-event). */
  readonly event: string;
  /** Whether no further error of this source is mailed today. */
  readonly isLast: boolean;
}

interface ErrorEvent {
  readonly error?: {
    readonly name?: unknown;
    readonly message?: unknown;
    readonly stack?: unknown;
    readonly ts?: unknown;
  };
}

const LONGEST = { subject: 150, message: 2_000, stack: 4_000 };

/** Mail about one error. The texts come from a user's component, and the runner has masked secrets in them. */
export const errorMail = ({ to, sourceId, sourceName, publicUrl, emit, event, isLast }: ErrorMailFacts): Mail => {
  const { error = {} } = JSON.parse(event) as ErrorEvent;
  const [name, message, stack, ts] = [textOf(error.name), textOf(error.message), textOf(error.stack), textOf(error.ts)];
  const errors = `${publicUrl}/v1/sources/${sourceId}/$errors/event_summaries`;
  return {
    to,
    subject: shortened(oneLine(`${sourceName}: ${name}: ${message}`), LONGEST.subject),
    messageId: `<${emit}.${sourceId}@${new URL(publicUrl).hostname}>`,
    text: [
      `Source ${oneLine(sourceName)} (${sourceId}) failed at ${ts}.`,
      '',
      `${oneLine(name)}: ${shortened(message, LONGEST.message)}`,
      '',
      shortened(stack, LONGEST.stack),
      '',
      `All errors: ${errors}`,
      '',
      'Repeats of this error are not mailed for 24 hours.',
      ...(isLast ? ['No further error of this source is mailed for up to 24 hours, because there were many.'] : []),
      `To get no such mails: PUT ${publicUrl}/v1/sources/${sourceId}/error_emails with {"enabled": false}`,
    ].join('\n'),
  };
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const shortened = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);
/** Control characters end a line, and a header. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
