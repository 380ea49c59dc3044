import { type Mail } from './mailer.js';

/** An error of a source or workflow for a mail. */
export interface ErrorMailFacts {
  readonly to: string;
  readonly emitterId: string;
  /** Of the source or workflow. */
  readonly name: string;
  /** Address of this server. */
  readonly publicUrl: string;
  /** Emit id of the error event. */
  readonly emit: string;
  /** JSON text of the error event (docs/reference/component-model.md#error-event). */
  readonly event: string;
  /** Whether no further error of this emitter is mailed today. */
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

/** Mail about one error. The texts come from a user's code, and the runner has masked secrets in them. */
export const errorMail = (facts: ErrorMailFacts): Mail => {
  const { to, emitterId, name: emitter, publicUrl, emit, event, isLast } = facts;
  const { error = {} } = JSON.parse(event) as ErrorEvent;
  const [name, message, stack, ts] = [textOf(error.name), textOf(error.message), textOf(error.stack), textOf(error.ts)];
  const { kind, resource, off } = emitterId.startsWith('p_')
    ? ({ kind: 'workflow', resource: 'workflows', off: '{"settings": {"error_notification": false}}' } as const)
    : ({ kind: 'source', resource: 'sources', off: '{"enabled": false}' } as const);
  const address = `${publicUrl}/v1/${resource}/${emitterId}`;
  const many = `No further error of this ${kind} is mailed for up to 24 hours, because there were many.`;
  return {
    to,
    subject: shortened(oneLine(`${emitter}: ${name}: ${message}`), LONGEST.subject),
    messageId: `<${emit}.${emitterId}@${new URL(publicUrl).hostname}>`,
    text: [
      `${kind === 'source' ? 'Source' : 'Workflow'} ${oneLine(emitter)} (${emitterId}) failed at ${ts}.`,
      '',
      `${oneLine(name)}: ${shortened(message, LONGEST.message)}`,
      '',
      shortened(stack, LONGEST.stack),
      '',
      `All errors: ${address}/$errors/event_summaries`,
      '',
      'Repeats of this error are not mailed for 24 hours.',
      ...(isLast ? [many] : []),
      `To get no such mails: PUT ${address}${kind === 'source' ? '/error_emails' : ''} with ${off}`,
    ].join('\n'),
  };
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const shortened = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);
/** Control characters end a line, and a header. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
