import { type HttpReply } from '#libs/component-model/run-output.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';

/** Topics on which a process awaits answers: `replies.<process id>`, which is also the address in an invocation. */
export const REPLIES = 'replies.';

export const replyTopic = (processId: string): string => REPLIES + processId;

/** `reply` is for the caller of an endpoint, `outcome` for the caller of a manual run or a hook. */
export type Answer =
  { readonly kind: 'reply'; readonly reply: HttpReply } | { readonly kind: 'outcome'; readonly outcome: RunOutcome };

export const answerRecord = (address: string, invocationId: string, answer: Answer): LogRecord => ({
  topic: address,
  key: invocationId,
  headers: { invocation: invocationId, kind: answer.kind },
  value: JSON.stringify(answer.kind === 'reply' ? answer.reply : answer.outcome),
});

/** Returns undefined for a record that is not from a runner. Throws SyntaxError for a value that is not JSON. */
export const readAnswer = (
  record: LogRecord,
): { readonly invocationId: string; readonly answer: Answer } | undefined => {
  const { invocation: invocationId, kind } = record.headers;
  if (invocationId === undefined) return undefined;
  if (kind === 'reply') return { invocationId, answer: { kind, reply: JSON.parse(record.value) as HttpReply } };
  if (kind === 'outcome') return { invocationId, answer: { kind, outcome: JSON.parse(record.value) as RunOutcome } };
  return undefined;
};

/** A record that a process sends to itself to find out whether answers arrive. */
export const probeRecord = (topic: string, id: string): LogRecord => ({
  topic,
  key: 'probe',
  headers: { probe: id },
  value: '{}',
});

/** The id of a probe; undefined for any other record. */
export const probeIn = ({ headers }: LogRecord): string | undefined => headers['probe'];
