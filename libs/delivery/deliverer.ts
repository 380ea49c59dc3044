import { newId } from '#libs/kernel/ids.js';
import { type Attempt } from '#libs/stream-log/attempt-records.js';
import { deliveryHeaders } from '#libs/stream-log/envelopes.js';
import { type LaneBatch, type StoredRecord } from '#libs/stream-log/stream-log.js';
import { Admission, type Admitted, type Verdict, type Wait } from './admission.js';
import { DeliveryCounts } from './delivery-counts.js';
import { type Delivery, readDelivery } from './delivery-records.js';
import { EventOrder } from './event-order.js';
import { ABORTED, type AttemptResult, AttemptSender, outcomeOf, wellOf } from './http-attempt.js';
import { LaneWork } from './lane-work.js';
import { OutcomeRecorder, type Claimed } from './outcome-recorder.js';
import { retryAfterMs } from './retry-policy.js';
import { type DueEntry } from '#libs/due/due-store.js';
import { type OutcomeWriter } from './outcome-writer.js';
import { type WebhookWorkerOptions, type WebhookWorkerSettings } from './webhook-settings.js';

export interface DelivererOptions extends Omit<WebhookWorkerOptions, 'settings'> {
  readonly settings: WebhookWorkerSettings;
  readonly random: () => number;
  readonly outcomes: OutcomeWriter<Attempt>;
}

/**
 * Processes the deliveries of each lane in order: claims each, has it admitted, sends it, and has its outcome recorded.
 */
export class Deliverer {
  private readonly works = new Map<string, LaneWork>();
  private readonly order: EventOrder;
  private readonly admission: Admission;
  private readonly attempts: AttemptSender;
  private readonly recorder: OutcomeRecorder;
  private closing = false;
  private letReturn: () => void = () => undefined;
  private readonly released = new Promise<void>((resolve) => (this.letReturn = resolve));
  private onIdle: (() => void) | undefined;

  constructor(private readonly options: DelivererOptions) {
    this.order = new EventOrder(options.due);
    this.admission = new Admission({ ...options, order: this.order });
    this.attempts = new AttemptSender(options.dispatcher, options.settings);
    this.recorder = new OutcomeRecorder({
      ...options,
      order: this.order,
      counts: new DeliveryCounts(newId('proc', options.clock.now())),
    });
  }

  get inFlight(): number {
    return this.admission.inFlight;
  }

  healthyLanes(): Iterable<string> {
    return this.admission.healthyLanes();
  }

  /** Resolves when every delivery of the batch is sent, put off or dropped. */
  async admitBatch(batch: LaneBatch): Promise<void> {
    const groups = byWebhook(batch.records);
    const work = this.works.get(batch.lane) ?? new LaneWork();
    this.works.set(batch.lane, work);
    if (groups.length === 1) return this.admitInOrder(batch, work, batch.records);
    // Webhooks that share a lane start independently.
    await Promise.all(groups.map((records) => this.admitInOrder(batch, work, records)));
  }

  /**
   * Releases a lane: waits at most `ms` until the deliveries in flight are durable, then aborts them. The next owner
   * sends those that were not started.
   */
  async drain(lane: string, ms: number): Promise<void> {
    const work = this.works.get(lane);
    this.works.delete(lane);
    this.admission.forgetLane(lane);
    this.order.forget();
    this.admission.wakeAll();
    await work?.drain(ms);
  }

  /** Returns a later time for a due entry that would only be put off again. */
  postpone(entry: DueEntry): number | undefined {
    return this.admission.postpone(entry);
  }

  /** Starts no more deliveries. Resolves when none is in flight, and aborts the rest after `ms`. */
  async finish(ms: number): Promise<void> {
    this.closing = true;
    this.admission.wakeAll();
    if (this.inFlight === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.attempts.abort(), ms);
      this.onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Lets the lanes' handlers return. */
  release(): void {
    this.letReturn();
  }

  private async admitInOrder(batch: LaneBatch, work: LaneWork, records: readonly StoredRecord[]): Promise<void> {
    for (const record of records) {
      if (this.closing) return this.released;
      const known = this.owned(batch);
      if (known) await known;
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
      if (delivery.isAgain && !(await this.stillWaits(delivery))) {
        batch.ack(record.offset);
        continue;
      }
      const claimed = { batch, work, offset: record.offset, delivery };
      const acknowledge = (): void => this.recorder.repeated(claimed);
      // Only a delivery that must wait allocates a promise.
      let turn = work.claim(delivery, acknowledge);
      while (turn instanceof Promise) {
        await Promise.race([turn, this.released]);
        if (this.closing) return this.released;
        if (batch.revoked()) return;
        turn = work.claim(delivery, acknowledge);
      }
      if (turn === 'repeat') continue;
      const wait = this.admit(claimed);
      if (wait !== undefined && !(await this.admitLater(claimed, wait))) {
        work.left(delivery.headers.id);
        return this.closing ? this.released : undefined;
      }
    }
  }

  /**
   * Undefined while this worker certainly owns the lane. After a pause of the process, in which the lane may have been
   * lost, the worker sends nothing until it knows the owner (docs/reference/delivery.md#ordered).
   */
  private owned(batch: LaneBatch): Promise<void> | undefined {
    const known = batch.inDoubt?.();
    return known && Promise.race([known, this.released]);
  }

  /** Whether no earlier record of the entry has ended the delivery. True when the due store cannot be read. */
  private async stillWaits({ entry, headers }: Delivery): Promise<boolean> {
    try {
      return entry === undefined || (await this.options.due.has(entry));
    } catch (error) {
      this.options.logger.error({ err: error, webhook: headers.webhook }, 'cannot read the due store; delivers again');
      return true;
    }
  }

  /** Resolves with false when the worker must stop reading the lane. */
  private async admitLater(claimed: Claimed, first: Wait): Promise<boolean> {
    for (let wait: Wait | undefined = first; wait !== undefined;) {
      const verdict = await wait;
      if (verdict) {
        this.carryOut(claimed, verdict);
        return true;
      }
      await this.owned(claimed.batch);
      if (this.closing || claimed.batch.revoked()) {
        this.admission.wakeNext();
        return false;
      }
      wait = this.admit(claimed);
      this.admission.wakeNext();
    }
    return true;
  }

  /** Sends, puts off or drops the delivery, or returns a promise to await before the next call. */
  private admit(claimed: Claimed): Wait | undefined {
    const verdict = this.admission.admit(claimed.delivery, claimed.batch.lane);
    if (verdict instanceof Promise) return verdict;
    this.carryOut(claimed, verdict);
    return undefined;
  }

  private carryOut(claimed: Claimed, verdict: Verdict): void {
    switch (verdict.kind) {
      case 'send':
        return this.send(claimed, verdict);
      case 'put off':
        return this.recorder.putOff(claimed, verdict.dueAt);
      case 'drop':
        return this.recorder.drop(claimed, verdict.error);
      case 'skip':
        return this.recorder.skip(claimed);
    }
  }

  private send(claimed: Claimed, admitted: Admitted): void {
    const startedAt = this.options.clock.now();
    const { delivery, work } = claimed;
    const abort = this.attempts.send(delivery, admitted, startedAt, (result) =>
      this.ended(claimed, admitted, result, startedAt),
    );
    if (abort) work.sending(delivery.headers.id, abort);
  }

  private ended(claimed: Claimed, admitted: Admitted, result: AttemptResult, startedAt: number): void {
    const endedAt = this.options.clock.now();
    const outcome = outcomeOf(result);
    const holdMs = retryAfterMs(result.retryAfter, endedAt);
    this.admission.finished(admitted, { well: wellOf(outcome), ms: result.ms, now: endedAt, holdMs });
    if (this.inFlight === 0) this.onIdle?.();
    // `close` or the loss of the lane aborted the request. Its result is unknown, so the delivery will be redelivered.
    if (result.error === ABORTED) return claimed.work.left(claimed.delivery.headers.id);

    const { target } = admitted;
    const decision = this.recorder.attempted(claimed, { target, result, outcome, startedAt, endedAt });
    const given = admitted.endpoint.givenUp(decision.kind);
    const { disableAfter } = this.options.settings;
    if (decision.kind === 'disable') this.disable(admitted, decision.reason);
    else if (decision.kind === 'final' && disableAfter > 0 && given >= disableAfter)
      this.disable(admitted, `${given} deliveries in a row failed for good, the last with ${decision.reason}`);
  }

  private disable({ endpoint, target }: Admitted, reason: string): void {
    if (endpoint.disabled === target) return;
    endpoint.disabled = target;
    Promise.resolve(reason)
      .then((text) => this.options.onDisable(target.id, text))
      .catch((error: unknown) => {
        endpoint.disabled = undefined;
        this.options.logger.error(
          { err: error, webhook: target.id },
          'cannot disable a webhook; its next failure tries again',
        );
      });
  }
}

const byWebhook = (records: readonly StoredRecord[]): readonly (readonly StoredRecord[])[] => {
  const [first] = records;
  if (!first) return [];
  const webhookOf = (record: StoredRecord): string => deliveryHeaders(record).webhook;
  if (records.every((record) => webhookOf(record) === webhookOf(first))) return [records];
  const groups = new Map<string, StoredRecord[]>();
  for (const record of records) {
    const webhook = webhookOf(record);
    const group = groups.get(webhook);
    if (group === undefined) groups.set(webhook, [record]);
    else group.push(record);
  }
  return [...groups.values()];
};
