import { randomBytes } from 'node:crypto';
import { Semaphore } from '#libs/async/semaphore.js';
import { parseSigningKey, signedHeaders } from '#libs/delivery/signing.js';
import { version } from '#libs/hosting/version.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { wrongUsage } from '../failure.js';
import { exactLine, type Fields, fieldText, isFields, textOf } from '../json.js';

const AT_ONCE = 10;
const TIMEOUT_MS = 30_000;
const KEY_BYTES = 24;
/** Stands for the id of a webhook. */
const WEBHOOK = 'sluice-forward';

/** What became of an event. */
export interface Sent {
  readonly id: string;
  /** Null where no answer came. */
  readonly status: number | null;
  readonly error: string | null;
  readonly ms: number;
}

/** Posts events to an address, as a webhook does, once each. */
export class Forward {
  /** Signs what is sent. */
  readonly key = `whsec_${randomBytes(KEY_BYTES).toString('base64')}`;
  private readonly slots = new Semaphore(AT_ONCE);

  /** @param signal ends what is under way. */
  constructor(
    private readonly url: string,
    private readonly tell: (sent: Sent) => void,
    private readonly signal?: AbortSignal,
  ) {}

  /** Resolves once there is room for another, so that events wait in the stream and not here. */
  async send(event: Fields): Promise<void> {
    await this.slots.acquire('');
    void this.post(event).finally(() => this.slots.release(''));
  }

  /** Resolves when all have been answered. */
  async idle(): Promise<void> {
    for (let n = 0; n < AT_ONCE; n++) await this.slots.acquire('');
    for (let n = 0; n < AT_ONCE; n++) this.slots.release('');
  }

  /** Never rejects. */
  private async post({ id, event, metadata }: Fields): Promise<void> {
    const startedAt = performance.now();
    const body = Buffer.from(exactLine(event));
    const emit = fieldText(metadata, 'emit_id');
    const emitter = fieldText(metadata, 'emitter_id');
    const channel = fieldText(metadata, 'name');
    const identity = {
      delivery: `fwd_${emit}`,
      webhook: WEBHOOK,
      emitter,
      emit,
      channel,
      attempt: 1,
      replay: undefined,
    };
    const signed = signedHeaders([parseSigningKey(this.key)], identity, Date.now(), body);
    const headers = new Headers({ 'content-type': 'application/json', 'user-agent': `sluice-cli/${version()}` });
    for (let n = 0; n < signed.length; n += 2) headers.set(signed[n] ?? '', signed[n + 1] ?? '');
    const result = await this.answered(headers, body);
    if (this.signal?.aborted === true) return;
    this.tell({ id: textOf(id), ...result, ms: Math.round(performance.now() - startedAt) });
  }

  private async answered(headers: Headers, body: Buffer): Promise<Pick<Sent, 'status' | 'error'>> {
    try {
      const late = AbortSignal.timeout(TIMEOUT_MS);
      const signal = this.signal === undefined ? late : AbortSignal.any([late, this.signal]);
      const init = { method: 'POST', headers, body: new Uint8Array(body), redirect: 'manual', signal } as const;
      const response = await fetch(this.url, init);
      await response.body?.cancel();
      return { status: response.status, error: null };
    } catch (error) {
      const cause = error instanceof Error && isFields(error.cause) ? error.cause : {};
      return { status: null, error: fieldText(cause, 'code') || messageOf(error) };
    }
  }
}

export const sentLine = ({ id, status, error, ms }: Sent): string =>
  `forwarded ${id}: ${status ?? error ?? ''}, ${ms} ms`;

/** Throws CommandFailure for what is no address to forward to. */
export const forwardTo = (given: string): string => {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.href;
  throw wrongUsage(`--forward must be an http or https address; got ${JSON.stringify(given.slice(0, 200))}`);
};
