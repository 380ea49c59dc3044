import { messageOf } from '#libs/kernel/error-message.js';
import { RECORD_BYTES, bytesAbove } from './record-limits.js';
import { type LogRecord } from './stream-log.js';
import { type TopicPolicy } from './topics.js';

/** Request of a `$.send.http` of a workflow's step. The step's process checked its fields. */
export interface HttpMessage {
  readonly kind: 'http';
  readonly method: string;
  readonly url: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface MessageOrigin {
  /** `snd_…`, the same when a crash repeats the message. */
  readonly id: string;
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly runId: string;
}

export interface SentMessage extends MessageOrigin {
  readonly message: HttpMessage;
}

/** Text of a message in the log. Undefined for one that no record can contain, because JSON escapes lengthen it. */
export const messageText = ({ kind, method, url, headers, body }: HttpMessage): string | undefined => {
  const text = JSON.stringify({ kind, method, url, headers, body });
  return bytesAbove(text, RECORD_BYTES) === undefined ? text : undefined;
};

/** The record of a message, if it fits into one. */
export const messageRecord = (
  topics: Pick<TopicPolicy, 'messages'>,
  { id, workflowId, workspaceId, runId }: MessageOrigin,
  message: HttpMessage,
): readonly LogRecord[] => {
  const value = messageText(message);
  if (value === undefined) return [];
  const headers = { id, workflow: workflowId, workspace: workspaceId, run: runId };
  return [{ topic: topics.messages(workflowId), key: workflowId, headers, value }];
};

/** Throws for a record that `messageRecord` did not make. */
export const readMessage = ({ headers, value }: Pick<LogRecord, 'headers' | 'value'>): SentMessage => {
  const { id, workflow, workspace, run } = headers;
  if (!id || !workflow || !workspace || !run) throw new Error('a header is missing');
  let message: HttpMessage;
  try {
    message = JSON.parse(value) as HttpMessage;
  } catch (error) {
    throw new Error(`the value is not JSON: ${messageOf(error)}`, { cause: error });
  }
  return { id, workflowId: workflow, workspaceId: workspace, runId: run, message };
};
