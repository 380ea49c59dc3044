import { type Dispatcher } from 'undici';
import { type Clock } from '#libs/kernel/clock.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type HttpMessage, type SentMessage } from '#libs/stream-log/message-records.js';
import { type AttemptRequest, type AttemptResult, AttemptSender } from './http-attempt.js';
import { type MessageAttempt, httpMessageAttempt, refused } from './message-attempt.js';
import { type EmailPorts, emailSender } from './message-email.js';
import { type ObjectPorts, objectSender } from './message-object.js';
import { DEFAULT_WEBHOOK_SETTINGS } from './webhook-settings.js';

export interface MessageSenders {
  /** The guarded dispatcher of createEgress. */
  readonly dispatcher: Dispatcher;
  /** Undefined when this server has no mail server. */
  readonly email: EmailPorts | undefined;
  /** Undefined when this server opens no bucket. */
  readonly objects: ObjectPorts | undefined;
  readonly clock: Clock;
}

const HTTP_MS = 5_000;

/** Makes one attempt at a message. Rejects when this process cannot make it now. */
export type SendMessage = (sent: SentMessage) => Promise<MessageAttempt>;

export const messageSender = ({ dispatcher, email, objects, clock }: MessageSenders): SendMessage => {
  const request = requests(dispatcher);
  const sendEmail = email && emailSender(email, clock);
  const sendObject = objects && objectSender(objects, requests(objects.dispatcher), clock);
  return async (sent) => {
    const { id, message } = sent;
    switch (message.kind) {
      case 'http': {
        const made = requestOf(id, message);
        return typeof made === 'string' ? refused(made) : httpMessageAttempt(await request(made));
      }
      case 'email':
        return sendEmail ? sendEmail(sent, message) : refused('this server has no mail server');
      case 's3':
        return sendObject ? sendObject(sent, message) : refused('this server opens no bucket');
    }
  };
};

const requests = (dispatcher: Dispatcher): ((made: AttemptRequest) => Promise<AttemptResult>) => {
  const attempts = new AttemptSender(dispatcher, DEFAULT_WEBHOOK_SETTINGS);
  return async (made) => new Promise((resolve) => void attempts.request(made, resolve));
};

/** Returns what is wrong with the URL when it is none. */
const requestOf = (id: string, { method, url, headers, body }: HttpMessage): AttemptRequest | string => {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch (error) {
    return messageOf(error);
  }
  const named = { 'user-agent': 'Sluice-Workflows/1', ...headers, 'x-pd-send-id': id };
  return {
    method,
    origin: parsed.origin,
    path: parsed.pathname + parsed.search,
    headers: Object.entries(named).flat(),
    body: body === null ? null : Buffer.from(body),
    timeoutMs: HTTP_MS,
  };
};
