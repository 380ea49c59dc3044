import { type Admitted } from './admission.js';
import { type Delivery } from './delivery-records.js';
import { ABORTED, AttemptSender, NOT_SENT, notSent, type AttemptRequest, type AttemptResult } from './http-attempt.js';
import { type AttemptOutcome } from './retry-policy.js';
import { signedHeaders } from './signing.js';
import { type WebhookWorkerOptions, type WebhookWorkerSettings } from './webhook-settings.js';

/** Signs deliveries and sends each once. */
export class AttemptRunner {
  private readonly sender: AttemptSender;

  constructor(
    dispatcher: WebhookWorkerOptions['dispatcher'],
    private readonly settings: WebhookWorkerSettings,
  ) {
    this.sender = new AttemptSender(dispatcher, settings);
  }

  /**
   * Calls `done` once, possibly within the call. Returns a function that aborts the request; undefined when no request
   * could be made, which counts as a failed attempt.
   */
  run(
    delivery: Delivery,
    admitted: Admitted,
    startedAt: number,
    done: (result: AttemptResult) => void,
  ): (() => void) | undefined {
    let request: AttemptRequest;
    try {
      request = this.requestOf(delivery, admitted, startedAt);
    } catch (error) {
      done(notSent(error, 0));
      return undefined;
    }
    return this.sender.send(request, done);
  }

  /** Ends all open requests with ABORTED. */
  abort(): void {
    this.sender.abort();
  }

  private requestOf(
    { headers: { id, webhook, emitter, emit, channel, replay }, body: text, attempt }: Delivery,
    { target, origin, prepared: { path, keys } }: Admitted,
    startedAt: number,
  ): AttemptRequest {
    const body = Buffer.from(text);
    const identity = { delivery: id, webhook, emitter, emit, channel, attempt, replay };
    const headers = signedHeaders(keys, identity, startedAt, body);
    headers.push('content-type', 'application/json', 'user-agent', this.settings.userAgent);
    return { origin, path, headers, body, timeoutMs: target.timeoutMs };
  }
}

export const outcomeOf = ({ status, error, retryAfter }: AttemptResult): AttemptOutcome => {
  if (status === null) return { kind: 'error', error: error ?? 'NO_ANSWER' };
  return retryAfter === undefined ? { kind: 'response', status } : { kind: 'response', status, retryAfter };
};

/** Whether an outcome shows a healthy endpoint; undefined when it does not tell. */
export const wellOf = (outcome: AttemptOutcome): boolean | undefined => {
  if (outcome.kind === 'response') return outcome.status < 500 && ![408, 425, 429].includes(outcome.status);
  return [ABORTED, NOT_SENT, 'EGRESS_REFUSED', 'INVALID_URL'].includes(outcome.error) ? undefined : false;
};
