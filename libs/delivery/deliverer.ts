import { type LaneBatch, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { attemptRecord, deferred, nextAttempt, readDelivery, type Delivery } from './delivery-records.js';
import { Endpoint, type PreparedTarget } from './endpoint.js';
import { ABORTED, AttemptSender, NOT_SENT, notSent, type AttemptRequest, type AttemptResult } from './http-attempt.js';
import { LaneWork } from './lane-work.js';
import { decideRetry, retryAfterMs, withMaxAttempts, type AttemptOutcome, type RetryDecision } from './retry-policy.js';
import { type ScheduledRetry } from './retry-schedule.js';
import { type DeliveryOutcome, type OutcomeWriter } from './outcome-writer.js';
import { signedHeaders } from './signing.js';
import { DeliverySemaphore } from './delivery-semaphore.js';
import { type WebhookTarget } from './webhook-directory.js';
import { type WebhookWorkerOptions, type WebhookWorkerSettings } from './webhook-settings.js';

export interface DelivererOptions extends Omit<WebhookWorkerOptions, 'settings'> {
  readonly settings: WebhookWorkerSettings;
  readonly random: () => number;
  readonly outcomes: OutcomeWriter;
}

/** A record taken from its lane, until it is acknowledged. */
interface Taken {
  readonly batch: LaneBatch;
  readonly work: LaneWork;
  readonly offset: number;
  readonly delivery: Delivery;
}

interface Sent extends Taken {
  readonly endpoint: Endpoint;
  readonly target: WebhookTarget;
  readonly slow: boolean;
  readonly probe: boolean;
}

/** Resolves with `done` when the delivery has been handled; otherwise ask again. */
type Wait = Promise<'done' | 'again' | void>;

const MAX_ERROR = 500;
const KEYS_PAUSE_MS = 30_000;
/** How long due deliveries wait for the result of a probe in flight. */
const PROBE_PAUSE_MS = 1000;
/** Number of endpoints in memory at which idle healthy ones are evicted. */
const MAX_ENDPOINTS = 10_000;

/**
 * Takes deliveries from lanes, decides when each may be sent, sends it, and passes its outcome to the OutcomeWriter.
 */
export class Deliverer {
  private readonly endpoints = new Map<string, Endpoint>();
  private readonly lanes = new Map<string, Endpoint>();
  private readonly works = new Map<string, LaneWork>();
  private readonly slots: DeliverySemaphore;
  private readonly sender: AttemptSender;
  private closing = false;
  private letReturn: () => void = () => undefined;
  private readonly released = new Promise<void>((resolve) => (this.letReturn = resolve));
  private onIdle: (() => void) | undefined;

  constructor(private readonly options: DelivererOptions) {
    this.slots = new DeliverySemaphore(options.settings.concurrency);
    this.sender = new AttemptSender(options.dispatcher, options.settings);
  }

  get inFlight(): number {
    return this.slots.inUse;
  }

  *healthyLanes(): Iterable<string> {
    for (const [lane, endpoint] of this.lanes) {
      if (this.options.directory.find(endpoint.id) === undefined) this.lanes.delete(lane);
      else if (endpoint.healthy) yield lane;
    }
  }

  /** Resolves when every record of the batch is sent, put off or dropped. */
  async take(batch: LaneBatch): Promise<void> {
    const groups = byWebhook(batch.records);
    const work = this.works.get(batch.lane) ?? new LaneWork();
    this.works.set(batch.lane, work);
    if (groups.length === 1) return this.takeGroup(batch, work, batch.records);
    // Webhooks that share a lane start independently.
    await Promise.all(groups.map((records) => this.takeGroup(batch, work, records)));
  }

  /**
   * Gives up a lane: waits at most `ms` until the deliveries in flight are durable, then aborts them. Deliveries not
   * yet started are left to the next owner.
   */
  async drain(lane: string, ms: number): Promise<void> {
    const work = this.works.get(lane);
    this.works.delete(lane);
    this.lanes.delete(lane);
    this.wakeAll();
    await work?.drain(ms);
  }

  private async takeGroup(batch: LaneBatch, work: LaneWork, records: readonly StoredRecord[]): Promise<void> {
    for (const record of records) {
      if (this.closing) return this.released;
      if (batch.revoked()) return;
      const delivery = readDelivery(record);
      if (delivery === undefined) {
        this.options.logger.error(
          { topic: record.topic, offset: record.offset },
          'dropped a record that is not a delivery',
        );
        batch.ack(record.offset);
        continue;
      }
      // Only a delivery that must wait costs a promise.
      let turn = work.take(delivery, () => batch.ack(record.offset));
      while (turn instanceof Promise) {
        await Promise.race([turn, this.released]);
        if (this.closing) return this.released;
        if (batch.revoked()) return;
        turn = work.take(delivery, () => batch.ack(record.offset));
      }
      if (turn === 'repeat') continue;
      const taken = { batch, work, offset: record.offset, delivery };
      const wait = this.admit(taken);
      if (wait !== undefined && !(await this.admitLater(taken, wait))) {
        work.left(delivery.headers.id);
        return this.closing ? this.released : undefined;
      }
    }
  }

  /** Resolves with false when the worker must stop taking from the lane. */
  private async admitLater(taken: Taken, first: Wait): Promise<boolean> {
    for (let wait: Wait | undefined = first; wait !== undefined;) {
      const done = await wait;
      if (done === 'done') return true;
      if (this.closing || taken.batch.revoked()) {
        this.slots.wakeNext();
        return false;
      }
      wait = this.admit(taken);
      this.slots.wakeNext();
    }
    return true;
  }

  /** Sends, puts off or drops the delivery, or returns a promise to await before the next call. */
  private admit(taken: Taken): Wait | undefined {
    const { delivery, batch } = taken;
    const target = this.options.directory.find(delivery.headers.webhook);
    if (target === undefined) return this.unknown(taken);
    if (!target.active) return this.drop(taken, 'inactive');

    const endpoint = this.endpointOf(target.id);
    if (this.lanes.get(batch.lane) !== endpoint) this.lanes.set(batch.lane, endpoint);
    const now = this.options.clock.now();
    const gate = endpoint.gate(now);
    if (gate === 'hold') return this.hold(taken, endpoint, now);
    if (gate === 'wait' || !endpoint.hasRoom(target)) return endpoint.changed();

    const prepared = endpoint.prepared(target);
    if (prepared === undefined) {
      return endpoint.prepare(target).then(
        () => 'again',
        (error: unknown) => this.withoutKeys(taken, error),
      );
    }
    if (prepared.origin === undefined) return this.drop(taken, `INVALID_URL: ${target.url}`);
    const slow = endpoint.slow;
    if (!this.slots.tryTake(slow)) return this.slots.freed(slow);
    this.send({ ...taken, endpoint, target, slow, probe: gate === 'probe' }, prepared, prepared.origin);
    return undefined;
  }

  private send(sent: Sent, prepared: PreparedTarget, origin: string): void {
    const startedAt = this.options.clock.now();
    sent.endpoint.started(sent.probe);
    let request: AttemptRequest;
    try {
      request = this.requestOf(sent, prepared, origin, startedAt);
    } catch (error) {
      // Counts as a failed attempt: it is recorded and frees its slot.
      return this.ended(sent, notSent(error, 0), startedAt);
    }
    const abort = this.sender.send(request, (result) => this.ended(sent, result, startedAt));
    sent.work.sending(sent.delivery.headers.id, abort);
  }

  private requestOf(
    { delivery, target }: Sent,
    { path, keys }: PreparedTarget,
    origin: string,
    startedAt: number,
  ): AttemptRequest {
    const { id, webhook, emitter, emit, channel } = delivery.headers;
    const body = Buffer.from(delivery.body);
    const identity = { delivery: id, webhook, emitter, emit, channel, attempt: delivery.attempt };
    const headers = signedHeaders(keys, identity, startedAt, body);
    headers.push('content-type', 'application/json', 'user-agent', this.options.settings.userAgent);
    return { origin, path, headers, body, timeoutMs: target.timeoutMs };
  }

  private ended(sent: Sent, result: AttemptResult, startedAt: number): void {
    const { endpoint, delivery, target } = sent;
    const { clock, random, settings, metrics } = this.options;
    const now = clock.now();
    const outcome = outcomeOf(result);
    const holdMs = retryAfterMs(result.retryAfter, now);
    endpoint.finished({ well: wellOf(outcome), probe: sent.probe, ms: result.ms, now, random: random(), holdMs });
    this.slots.release(sent.slow);
    if (this.slots.inUse === 0) this.onIdle?.();
    // Aborted by close() or with its lane: the result is unknown, and the delivery comes again.
    if (result.error === ABORTED) return sent.work.left(delivery.headers.id);

    const retries =
      target.maxAttempts === undefined ? settings.retries : withMaxAttempts(settings.retries, target.maxAttempts);
    const decision = decideRetry(outcome, delivery.attempt, retries, random(), now);
    const nextAttemptAt = decision.kind === 'retry' ? now + decision.delayMs : null;
    const recorded = decision.kind === 'disable' ? 'final' : decision.kind;
    metrics?.onAttempt?.(recorded, result.status, result.ms);
    const value = {
      ts: startedAt,
      ms: Math.round(result.ms),
      status: result.status,
      error: errorText(result, decision),
      nextAttemptAt,
      responseSnippet: result.snippet,
    };
    const attempt = attemptRecord(this.options.topics.attempts(), delivery, recorded, value);
    this.settle(
      sent,
      nextAttemptAt === null ? { attempt } : { attempt, waiting: this.nextTime(delivery, nextAttemptAt) },
    );
    if (decision.kind === 'disable') this.disable(endpoint, target, decision.reason);
  }

  private nextTime(delivery: Delivery, dueAt: number): ScheduledRetry {
    return nextAttempt(delivery, this.options.topics.deliveries(delivery.headers.webhook), dueAt);
  }

  private disable(endpoint: Endpoint, target: WebhookTarget, reason: string): void {
    if (endpoint.disabled === target) return;
    endpoint.disabled = target;
    Promise.resolve(reason)
      .then((text) => this.options.onDisable(target.id, text))
      .catch((error: unknown) => {
        endpoint.disabled = undefined;
        this.options.logger.error(
          { err: error, webhook: target.id },
          'cannot disable a webhook; its next 410 tries again',
        );
      });
  }

  /** Returns a delivery to the schedule without an attempt, because the breaker is open. */
  private hold(taken: Taken, endpoint: Endpoint, now: number): undefined {
    const { settings, random } = this.options;
    if (now - taken.delivery.at > settings.maxAgeMs) return this.drop(taken, 'expired while the endpoint was failing');
    return this.putOff(taken, endpoint.heldUntil(now, random()));
  }

  /** Puts a delivery to an unknown webhook off, because the directory may lag behind the router. */
  private unknown(taken: Taken): undefined {
    const pause = this.options.settings.unknownDelaysMs[taken.delivery.defers];
    return pause === undefined
      ? this.drop(taken, 'unknown webhook')
      : this.putOff(taken, this.options.clock.now() + pause);
  }

  private withoutKeys(taken: Taken, error: unknown): 'done' {
    const { headers } = taken.delivery;
    this.options.logger.error(
      { err: error, webhook: headers.webhook },
      'signing keys cannot be read; delivery put off',
    );
    this.putOff(taken, this.options.clock.now() + KEYS_PAUSE_MS);
    return 'done';
  }

  private putOff(taken: Taken, dueAt: number): undefined {
    this.options.metrics?.onDeferred?.(1);
    const topic = this.options.topics.deliveries(taken.delivery.headers.webhook);
    this.settle(taken, { waiting: deferred(taken.delivery, topic, dueAt) });
  }

  private drop(taken: Taken, error: string): undefined {
    this.options.metrics?.onAttempt?.('final', null, 0);
    const value = {
      ts: this.options.clock.now(),
      ms: 0,
      status: null,
      error,
      nextAttemptAt: null,
      responseSnippet: '',
    };
    this.settle(taken, { attempt: attemptRecord(this.options.topics.attempts(), taken.delivery, 'final', value) });
  }

  private settle({ batch, work, offset, delivery }: Taken, outcome: Omit<DeliveryOutcome, 'durable'>): void {
    // Another worker owns the record now.
    if (work.gone) return work.left(delivery.headers.id);
    this.options.outcomes.push({
      ...outcome,
      durable: () => {
        if (!work.gone) batch.ack(offset);
        work.recorded(delivery.headers.id);
      },
    });
  }

  /** Returns a later time for a due entry that would only be put off again. */
  postpone(entry: ScheduledRetry): number | undefined {
    const { clock, settings, random } = this.options;
    const endpoint = this.endpoints.get(entry.owner);
    const now = clock.now();
    const gate = endpoint?.gate(now);
    if (endpoint === undefined || gate === 'pass' || gate === 'probe') return undefined;
    if (now - Number(entry.record.headers.at ?? '0') > settings.maxAgeMs) return undefined;
    return gate === 'wait' ? now + PROBE_PAUSE_MS : endpoint.heldUntil(now, random());
  }

  /** Starts no more deliveries. Resolves when none is in flight; after `ms` the rest is aborted. */
  async finish(ms: number): Promise<void> {
    this.closing = true;
    this.wakeAll();
    if (this.slots.inUse === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.sender.abort(), ms);
      this.onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Makes all deliveries that wait for room check again whether they should. */
  private wakeAll(): void {
    this.slots.wakeAll();
    for (const endpoint of this.endpoints.values()) endpoint.wakeAll();
  }

  /** Lets the lanes' handlers return. */
  release(): void {
    this.letReturn();
  }

  private endpointOf(id: string): Endpoint {
    const known = this.endpoints.get(id);
    if (known !== undefined) return known;
    if (this.endpoints.size >= MAX_ENDPOINTS) this.forgetIdle();
    const endpoint = new Endpoint(id, this.options.settings);
    this.endpoints.set(id, endpoint);
    return endpoint;
  }

  private forgetIdle(): void {
    for (const [id, endpoint] of this.endpoints)
      if (endpoint.inFlight === 0 && endpoint.healthy) this.endpoints.delete(id);
  }
}

const byWebhook = (records: readonly StoredRecord[]): readonly (readonly StoredRecord[])[] => {
  const first = records[0]?.headers.webhook;
  if (records.every(({ headers }) => headers.webhook === first)) return [records];
  const groups = new Map<string, StoredRecord[]>();
  for (const record of records) {
    const webhook = record.headers.webhook ?? '';
    const group = groups.get(webhook);
    if (group === undefined) groups.set(webhook, [record]);
    else group.push(record);
  }
  return [...groups.values()];
};

const outcomeOf = ({ status, error, retryAfter }: AttemptResult): AttemptOutcome => {
  if (status === null) return { kind: 'error', error: error ?? 'NO_ANSWER' };
  return retryAfter === undefined ? { kind: 'response', status } : { kind: 'response', status, retryAfter };
};

/** Whether an outcome shows a healthy endpoint; undefined when it does not tell. */
const wellOf = (outcome: AttemptOutcome): boolean | undefined => {
  if (outcome.kind === 'response') return outcome.status < 500 && ![408, 425, 429].includes(outcome.status);
  return [ABORTED, NOT_SENT, 'EGRESS_REFUSED', 'INVALID_URL'].includes(outcome.error) ? undefined : false;
};

const errorText = (result: AttemptResult, decision: RetryDecision): string | null => {
  if (decision.kind === 'success') return null;
  const detail = result.message === '' || result.message === result.error ? '' : `: ${result.message}`;
  const text = result.status === null ? `${result.error ?? 'NO_ANSWER'}${detail}` : `status ${result.status}`;
  return (decision.kind === 'retry' || result.status === null ? text : decision.reason).slice(0, MAX_ERROR);
};
