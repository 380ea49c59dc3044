import { randomUUID } from 'node:crypto';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type IdempotencyRecords } from './idempotency-records.js';

export interface IdempotentRequest {
  readonly userId: string;
  /** Hash of route and key. */
  readonly id: string;
  /** Hash of everything that must be equal in a repeat. */
  readonly fingerprint: string;
}

/** An answer as it is kept. The body is JSON text, empty for none. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

/** Null when the request was carried out, and its answer cannot be shown again. */
interface Kept {
  readonly fingerprint: string;
  readonly answer: KeptAnswer | null;
}

export const KEPT_MS = 24 * 3_600_000;
/** The claim of a dead process lasts this long. A live process renews its claim. */
const CLAIM_MS = 60_000;
const RENEW_MS = CLAIM_MS / 3;
const MAX_BODY_BYTES = 128 * 1024;

/**
 * Runs each request with an Idempotency-Key once (docs/reference/rest-api.md#idempotency-key). An atomic counter decides
 * which of several processes runs it. The answer is durable before the claim ends, so a repeat finds one or the other.
 */
export class IdempotentRequests {
  constructor(
    private readonly records: IdempotencyRecords,
    private readonly clock: Clock,
    /** Called when a reply could not be kept. The request itself has succeeded, and a repeat would run again. */
    private readonly onLost: (error: unknown) => void,
  ) {}

  /**
   * Resolves with the answer of an earlier run, or with that of `run`. `keptOf` returns the part to store; null stores
   * only that the request was carried out. Throws request.idempotency_mismatch, .in_progress or .reply_not_kept.
   */
  async once<T>(
    request: IdempotentRequest,
    run: () => Promise<T>,
    keptOf: (answer: T) => KeptAnswer | null,
  ): Promise<{ readonly replayed: KeptAnswer } | { readonly answer: T }> {
    const before = await this.found(request);
    if (before !== undefined) return { replayed: before };
    const claim = await this.claim(request);
    if (claim === undefined) {
      const meanwhile = await this.found(request);
      if (meanwhile !== undefined) return { replayed: meanwhile };
      throw new DomainError(
        'request.in_progress',
        'a request with this Idempotency-Key is still running: repeat it in a few seconds, or after a minute if its process died',
        { field: 'Idempotency-Key' },
      );
    }
    try {
      // The first request may have ended between the first read and the claim.
      const ended = await this.found(request);
      if (ended !== undefined) return { replayed: ended };
      const answer = await this.running(claim, request.userId, run);
      await this.keep(request, keptOf(answer)).catch(this.onLost);
      return { answer };
    } catch (error) {
      // The change is made, although reads do not show it yet. A repeat must not make it again.
      if (error instanceof DomainError && error.code === 'request.not_caught_up')
        await this.keep(request, null).catch(this.onLost);
      throw error;
    } finally {
      await this.records.delete(storeOf(request.userId), claim, this.clock.now());
    }
  }

  /**
   * Returns a text that is the same for all repeats of the request, also when the process dies before the answer is kept.
   * Call it from `run` only. What derives from it exists once, whatever repeats the request.
   */
  async repeatId({ userId, id, fingerprint }: IdempotentRequest): Promise<string> {
    const now = this.clock.now();
    const store = storeOf(userId);
    const key = `repeat:${id}`;
    const found = await this.records.get(store, key, now);
    if (found) return `${found.value}/${fingerprint}`;
    const value = JSON.stringify(randomUUID());
    await this.records.set({ storeId: store, workspaceId: store, key, value, expiresAt: now + KEPT_MS }, now);
    return `${value}/${fingerprint}`;
  }

  private async found({ userId, id, fingerprint }: IdempotentRequest): Promise<KeptAnswer | undefined> {
    const found = await this.records.get(storeOf(userId), `kept:${id}`, this.clock.now());
    if (!found) return undefined;
    const kept = JSON.parse(found.value) as Kept;
    if (kept.fingerprint !== fingerprint) {
      throw new DomainError(
        'request.idempotency_mismatch',
        'this Idempotency-Key came with another request within the last 24 hours: use a new key for a new request',
        { field: 'Idempotency-Key' },
      );
    }
    if (kept.answer !== null) return kept.answer;
    throw new DomainError(
      'request.reply_not_kept',
      'the request with this Idempotency-Key was carried out, and its reply was too large to be kept, not ready or of no described form: read the resource instead',
      { field: 'Idempotency-Key' },
    );
  }

  /** Key of the claim, or undefined when another request has it. */
  private async claim({ userId, id }: IdempotentRequest): Promise<string | undefined> {
    const now = this.clock.now();
    const store = storeOf(userId);
    const key = `claim:${id}`;
    // The claim has its end from the first on, because the process may die at once.
    const record = { storeId: store, workspaceId: store, key };
    const claims = await this.records.incr(record, 1, now, now + CLAIM_MS).catch(tooMany);
    return claims === 1 ? key : undefined;
  }

  private async running<T>(claim: string, userId: string, run: () => Promise<T>): Promise<T> {
    const renew = (): void => {
      const now = this.clock.now();
      // The claim is lost only when several renewals fail.
      this.records.setTtl(storeOf(userId), claim, now + CLAIM_MS, now).catch(() => undefined);
    };
    const timer = setInterval(renew, RENEW_MS).unref();
    try {
      return await run();
    } finally {
      clearInterval(timer);
    }
  }

  private async keep({ userId, id, fingerprint }: IdempotentRequest, answer: KeptAnswer | null): Promise<void> {
    const now = this.clock.now();
    const isKept = answer !== null && Buffer.byteLength(answer.body) <= MAX_BODY_BYTES;
    const kept: Kept = { fingerprint, answer: isKept ? answer : null };
    const store = storeOf(userId);
    const record = { storeId: store, workspaceId: store, key: `kept:${id}` };
    await this.records.set({ ...record, value: JSON.stringify(kept), expiresAt: now + KEPT_MS }, now);
  }
}

const tooMany = (error: unknown): never => {
  if (!(error instanceof DomainError) || error.code !== 'data_store.full') throw error;
  const { limit, actual } = error.details as { limit: number; actual: number };
  throw new DomainError(
    'request.rate_limited',
    `too many requests with an Idempotency-Key within 24 hours: ${actual}, the limit is ${limit}; leave the header out, or wait`,
    { field: 'Idempotency-Key', limit, actual, retry_after: 3_600 },
  );
};

/** Each user has a store, whose limits bound what is stored for that user. No id of a data store has this form. */
const storeOf = (userId: string): string => `idempotency:${userId}`;
