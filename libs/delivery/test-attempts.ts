import { type Dispatcher } from 'undici';
import { Semaphore } from '#libs/async/semaphore.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type AttemptResult, AttemptSender } from './http-attempt.js';
import { attemptError } from './outcome-recorder.js';
import { parseSigningKey, signedHeaders } from './signing.js';
import { type WebhookDirectory } from './webhook-directory.js';
import { DEFAULT_WEBHOOK_SETTINGS } from './webhook-settings.js';

/** Attempts of tests that a process makes at once, and those at one webhook. */
const AT_ONCE = 16;
const AT_ONE_WEBHOOK = 2;

export interface TestAttemptsOptions {
  readonly directory: WebhookDirectory;
  /** Read at each test, because a process that serves only reads has none. */
  readonly egress: { readonly dispatcher: Dispatcher };
  readonly clock: Clock;
}

/** An event that is sent to a webhook as a test. */
export interface SentTest {
  readonly delivery: string;
  readonly webhook: string;
  readonly emitter: string;
  readonly emit: string;
  readonly channel: string;
  /** JSON text. */
  readonly body: string;
}

export interface TestResult {
  readonly ts: number;
  readonly ms: number;
  readonly status: number | null;
  /** Null for a success. */
  readonly error: string | null;
  readonly responseSnippet: string;
  readonly responseHeaders: Readonly<Record<string, string>>;
}

/** Makes single attempts at webhooks, which no list has and no retry follows. */
export const testAttempts = ({ directory, egress, clock }: TestAttemptsOptions) => {
  const slots = new Semaphore(AT_ONCE, () => AT_ONE_WEBHOOK);
  const settings = DEFAULT_WEBHOOK_SETTINGS;
  return {
    /** Resolves with what came of it; undefined for a webhook that is not known any more. */
    send: ({ body: text, channel, ...ids }: SentTest): Promise<TestResult | undefined> =>
      slots.run(ids.webhook, async () => {
        const target = directory.find(ids.webhook);
        if (!target) return undefined;
        const keys = (await target.signingKeys()).map(parseSigningKey);
        const ts = clock.now();
        const body = Buffer.from(text);
        const identity = { ...ids, channel, attempt: 1, replay: undefined };
        const headers = signedHeaders(keys, identity, ts, body);
        headers.push('x-pd-test', 'true', 'content-type', 'application/json', 'user-agent', settings.userAgent);
        const { origin, pathname, search } = new URL(target.url);
        const sender = new AttemptSender(egress.dispatcher, settings);
        const request = { method: 'POST', origin, path: pathname + search, headers, body } as const;
        const result = await new Promise<AttemptResult>((resolve) =>
          sender.request({ ...request, timeoutMs: target.timeoutMs }, resolve),
        );
        const { status, snippet, ms, headers: responseHeaders = {} } = result;
        const isSuccess = status !== null && status >= 200 && status < 300;
        return {
          ts,
          ms,
          status,
          error: isSuccess ? null : attemptError(result),
          responseSnippet: snippet,
          responseHeaders,
        };
      }),
  };
};
