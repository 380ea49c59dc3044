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
  /** Whether it is tried again, as deliveries of webhooks are. */
  readonly retry: boolean;
}

/** `$.send.email` of a workflow's step. It goes to the creator of the workflow. */
export interface EmailMessage {
  readonly kind: 'email';
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
}

/** `$.send.s3` of a workflow's step. It is written to a bucket that SLUICE_S3 opens to the workspace. */
export interface ObjectMessage {
  readonly kind: 's3';
  readonly bucket: string;
  readonly key: string;
  /** JSON text, the content of the object. */
  readonly payload: string;
}

export type Message = HttpMessage | EmailMessage | ObjectMessage;

export interface MessageOrigin {
  /** `snd_…`, the same when a crash repeats the message. */
  readonly id: string;
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly runId: string;
  /** The step that sent it, the number of that execution in the run, and the place among the messages of the step. */
  readonly namespace: string;
  readonly execution: number;
  readonly index: number;
}

export interface SentMessage extends MessageOrigin {
  /** From 1. */
  readonly attempt: number;
  readonly message: Message;
}

/** What became of a message, for the history of its run. */
export interface SendOutcome extends MessageOrigin {
  /** `queued` while it waits for its next attempt. */
  readonly state: 'queued' | 'sent' | 'failed';
  readonly attempts: number;
  /** Status of the last answer, if there was one. */
  readonly status: number | null;
  readonly error: string | null;
}

/** Marks the records of outcomes on the topic of runs. */
const OUTCOME = 'send';

/** Text of a message in the log. Undefined for one that no record can contain, because JSON escapes lengthen it. */
export const messageText = (message: Message): string | undefined => {
  const text = JSON.stringify(message);
  return bytesAbove(text, RECORD_BYTES) === undefined ? text : undefined;
};

/** The record of a message, if it fits into one. */
export const messageRecord = (
  topics: Pick<TopicPolicy, 'messages'>,
  { id, workflowId, workspaceId, runId, namespace, execution, index }: MessageOrigin,
  message: Message,
): readonly LogRecord[] => {
  const value = messageText(message);
  if (value === undefined) return [];
  const headers = {
    id,
    workflow: workflowId,
    workspace: workspaceId,
    run: runId,
    step: namespace,
    execution: String(execution),
    index: String(index),
  };
  return [{ topic: topics.messages(workflowId), key: workflowId, headers, value }];
};

/** The record of the next attempt at a message, without its topic. */
export const nextAttemptRecord = ({ key, headers, value }: LogRecord, attempt: number): Omit<LogRecord, 'topic'> => ({
  key,
  headers: { ...headers, attempt: String(attempt) },
  value,
});

/** Throws for a record that `messageRecord` did not make. */
export const readMessage = ({ headers, value }: Pick<LogRecord, 'headers' | 'value'>): SentMessage => {
  const { id, workflow, workspace, run, step } = headers;
  const [execution, index, attempt] = [headers['execution'], headers['index'], headers['attempt'] ?? '1'].map(Number);
  if (!id || !workflow || !workspace || !run || !step) throw new Error('a header is missing');
  if (!isCount(execution) || !isCount(index) || !isCount(attempt)) throw new Error('a header is no number');
  let message: Message;
  try {
    message = JSON.parse(value) as Message;
  } catch (error) {
    throw new Error(`the value is not JSON: ${messageOf(error)}`, { cause: error });
  }
  const origin = { id, workflowId: workflow, workspaceId: workspace, runId: run, namespace: step, execution, index };
  return { ...origin, attempt, message };
};

const isCount = (value: number | undefined): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** The record of an outcome, on the topic of the workflow's runs. A repeat of the attempt has the same. */
export const outcomeRecord = (topics: Pick<TopicPolicy, 'runs'>, outcome: SendOutcome): LogRecord => {
  const { workflowId: key } = outcome;
  return { topic: topics.runs(key), key, headers: { kind: OUTCOME }, value: JSON.stringify(outcome) };
};

/** Whether a record of runs tells what became of a message, and not what changed in a run. */
export const isOutcome = ({ headers }: Pick<LogRecord, 'headers'>): boolean => headers['kind'] === OUTCOME;

/** Undefined for another record of the topic of runs. Throws for one whose value is not JSON. */
export const readOutcome = ({ headers, value }: Pick<LogRecord, 'headers' | 'value'>): SendOutcome | undefined =>
  isOutcome({ headers }) ? (JSON.parse(value) as SendOutcome) : undefined;
