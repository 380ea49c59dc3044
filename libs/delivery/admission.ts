import { type Clock } from '#libs/kernel/clock.js';
import { type FreshTables } from '#libs/kernel/table-freshness.js';
import { type Delivery } from './delivery-records.js';
import { DeliverySemaphore } from './delivery-semaphore.js';
import { Endpoint, type PreparedTarget } from './endpoint.js';
import { type EventOrder } from './event-order.js';
import { type DueEntry } from '#libs/due/due-store.js';
import { type WebhookDirectory, type WebhookTarget } from './webhook-directory.js';
import { type DeliveryLogger, type WebhookWorkerOptions, type WebhookWorkerSettings } from './webhook-settings.js';

export interface AdmissionOptions {
  readonly directory: WebhookDirectory;
  readonly tables: Pick<FreshTables, 'holdAll'>;
  readonly settings: WebhookWorkerSettings;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Pick<DeliveryLogger, 'error'>;
  readonly order: EventOrder;
  readonly onHealth?: WebhookWorkerOptions['onHealth'];
}

/** The delivery may be sent. It occupies a slot until `finished`. */
export interface Admitted {
  readonly kind: 'send';
  readonly endpoint: Endpoint;
  readonly target: WebhookTarget;
  readonly prepared: PreparedTarget;
  readonly origin: string;
  readonly slow: boolean;
  readonly probe: boolean;
}

/** The delivery is put off to a later time, without an attempt. */
export interface PutOff {
  readonly kind: 'put off';
  readonly dueAt: number;
}

/** The delivery ends without a request, and an entry in the list of attempts says why. */
export interface Dropped {
  readonly kind: 'drop';
  readonly error: string;
}

/** The delivery ends without an entry in the list of attempts. */
export interface Skipped {
  readonly kind: 'skip';
}

export type Verdict = Admitted | PutOff | Dropped | Skipped;

/** Resolves with the verdict, or without one when the caller should ask again. */
export type Wait = Promise<PutOff | Dropped | void>;

export interface Finished {
  /** False after no answer, 408, 425, 429 or 5xx; undefined when the result says nothing about the endpoint. */
  readonly well: boolean | undefined;
  readonly ms: number;
  readonly now: number;
  /** Pause that the endpoint asked for with Retry-After. */
  readonly holdMs: number;
}

const KEYS_PAUSE_MS = 30_000;
/** How long a delivery to an unknown webhook waits in its lane for the event log before it is put off. */
const UNKNOWN_MS = 5_000;
/** How long due deliveries wait for the result of a probe in flight. */
const PROBE_PAUSE_MS = 1000;
/** Number of endpoints in memory at which idle healthy ones are evicted. */
const MAX_ENDPOINTS = 10_000;

/** Decides when a delivery may be sent, by its endpoint's breaker and limit and by the slots of all endpoints. */
export class Admission {
  private readonly endpoints = new Map<string, Endpoint>();
  private readonly lanes = new Map<string, Endpoint>();
  private readonly slots: DeliverySemaphore;

  constructor(private readonly options: AdmissionOptions) {
    this.slots = new DeliverySemaphore(options.settings.concurrency);
  }

  /** Number of deliveries admitted and not finished. */
  get inFlight(): number {
    return this.slots.inUse;
  }

  *healthyLanes(): Iterable<string> {
    for (const [lane, endpoint] of this.lanes) {
      if (this.options.directory.find(endpoint.id) === undefined) this.lanes.delete(lane);
      else if (endpoint.healthy) yield lane;
    }
  }

  /**
   * After a Wait, call `wakeNext` once the next verdict arrives. Only a delivery that must wait allocates a promise.
   */
  admit(delivery: Delivery, lane: string): Verdict | Wait {
    const target = this.options.directory.find(delivery.headers.webhook);
    if (target === undefined) return this.unknown(delivery.headers.webhook);
    if (!target.active) return { kind: 'skip' };

    const endpoint = this.endpointOf(target.id);
    if (this.lanes.get(lane) !== endpoint) this.lanes.set(lane, endpoint);
    const now = this.options.clock.now();
    const gate = endpoint.gate(now);
    if (gate === 'hold') return this.hold(delivery, endpoint, now);
    if (gate === 'wait' || !endpoint.hasRoom(target)) return endpoint.changed();
    const turn = target.ordered ? this.turnOf(delivery, now) : undefined;
    if (turn !== undefined) return turn;

    const prepared = endpoint.prepared(target);
    if (prepared === undefined) {
      return endpoint.prepare(target).then(
        () => undefined,
        (error: unknown) => this.withoutKeys(target, error),
      );
    }
    const { origin } = prepared;
    if (origin === undefined) return { kind: 'drop', error: `INVALID_URL: ${target.url}` };
    const { slow } = endpoint;
    if (!this.slots.tryAcquire(slow)) return this.slots.freed(slow);
    const probe = gate === 'probe';
    endpoint.started(probe);
    return { kind: 'send', endpoint, target, prepared, origin, slow, probe };
  }

  /** Frees the slot, and updates the endpoint with the result. */
  finished({ endpoint, slow, probe }: Admitted, { well, ms, now, holdMs }: Finished): void {
    const change = endpoint.finished({ well, probe, ms, now, random: this.options.random(), holdMs });
    this.slots.release(slow);
    if (change !== undefined) this.options.onHealth?.(endpoint.id, change);
  }

  /** Returns a later time for a due entry that `admit` would only put off again. */
  postpone(entry: DueEntry): number | undefined {
    const { clock, settings, random } = this.options;
    const endpoint = this.endpoints.get(entry.owner);
    const now = clock.now();
    const gate = endpoint?.gate(now);
    if (endpoint === undefined || gate === 'pass' || gate === 'probe') return undefined;
    if (now - Number(entry.record.headers.at ?? '0') > settings.maxAgeMs) return undefined;
    return gate === 'wait' ? now + PROBE_PAUSE_MS : endpoint.heldUntil(now, random());
  }

  /** Makes the next delivery that waits for a slot ask again. */
  wakeNext(): void {
    this.slots.wakeNext();
  }

  /** Makes all deliveries that wait for room ask again. */
  wakeAll(): void {
    this.slots.wakeAll();
    for (const endpoint of this.endpoints.values()) endpoint.wakeAll();
  }

  forgetLane(lane: string): void {
    this.lanes.delete(lane);
  }

  /** Puts a delivery off because the breaker is open. */
  private hold({ at }: Delivery, endpoint: Endpoint, now: number): Verdict {
    const { settings, random } = this.options;
    if (now - at > settings.maxAgeMs) return { kind: 'drop', error: 'expired while the endpoint was failing' };
    return { kind: 'put off', dueAt: endpoint.heldUntil(now, random()) };
  }

  /** Ends or puts off a delivery of an ordered webhook while an earlier one waits; undefined when it is its turn. */
  private turnOf(delivery: Delivery, now: number): Verdict | Wait | undefined {
    const { order, settings, logger, clock } = this.options;
    const until = order.heldUntil(delivery, now);
    if (until === undefined) return undefined;
    if (typeof until === 'number') {
      if (now - delivery.at > settings.maxAgeMs) return { kind: 'drop', error: 'expired while earlier events failed' };
      return { kind: 'put off', dueAt: until };
    }
    return until.catch((error: unknown) => {
      logger.error({ err: error, webhook: delivery.headers.webhook }, 'waiting deliveries cannot be read; put off');
      return { kind: 'put off', dueAt: clock.now() + KEYS_PAUSE_MS };
    });
  }

  /** Drops a delivery only when the whole event log lacks its webhook: the directory may lag behind the router. */
  private async unknown(webhookId: string): Wait {
    const { tables, clock, directory } = this.options;
    const until = performance.now() + UNKNOWN_MS;
    const held = await tables.holdAll(() => performance.now() > until);
    if (directory.find(webhookId) !== undefined) return undefined;
    return held ? { kind: 'drop', error: 'unknown webhook' } : { kind: 'put off', dueAt: clock.now() + UNKNOWN_MS };
  }

  private withoutKeys({ id }: WebhookTarget, error: unknown): PutOff {
    const { logger, clock } = this.options;
    logger.error({ err: error, webhook: id }, 'signing keys cannot be read; delivery put off');
    return { kind: 'put off', dueAt: clock.now() + KEYS_PAUSE_MS };
  }

  private endpointOf(id: string): Endpoint {
    const known = this.endpoints.get(id);
    if (known !== undefined) return known;
    if (this.endpoints.size >= MAX_ENDPOINTS) this.evictIdle();
    const endpoint = new Endpoint(id, this.options.settings);
    this.endpoints.set(id, endpoint);
    return endpoint;
  }

  private evictIdle(): void {
    for (const [id, endpoint] of this.endpoints)
      if (endpoint.inFlight === 0 && endpoint.healthy) this.endpoints.delete(id);
  }
}
