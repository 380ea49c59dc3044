import { afterResult, CLOSED, gateOf, probeStarted, type BreakerState, type Gate } from './breaker.js';
import { type RetryDecision } from './retry-policy.js';
import { parseSigningKey, type SigningKey } from './signing.js';
import { type WebhookTarget } from './webhook-directory.js';
import { type WebhookWorkerSettings } from './webhook-settings.js';

/** A webhook's address and keys, parsed once for all its attempts. */
export interface PreparedTarget {
  readonly target: WebhookTarget;
  /** Undefined when the URL is invalid. */
  readonly origin: string | undefined;
  readonly path: string;
  readonly keys: readonly SigningKey[];
}

/** Most deliveries in flight to an endpoint that has not answered yet. */
const UNPROVEN_CONCURRENCY = 2;
/** Weight of one answer in the average response time. */
const WEIGHT = 0.1;
/** Interval between the due times of deliveries that an open breaker puts off. */
const SPACING_MS = 2;
const MAX_SPREAD_MS = 600_000;

/** State that the worker keeps for one webhook, in memory. */
export class Endpoint {
  inFlight = 0;
  /** The target that was last reported as disabled, so that it is reported once. */
  disabled: WebhookTarget | undefined;
  private breaker: BreakerState = CLOSED;
  /** Undefined until the first result. */
  private averageMs: number | undefined;
  private held = 0;
  private givenUpInARow = 0;
  private cached: PreparedTarget | undefined;
  private waiting: (() => void)[] = [];

  constructor(
    readonly id: string,
    private readonly settings: WebhookWorkerSettings,
  ) {}

  gate(now: number): Gate {
    return gateOf(this.breaker, now);
  }

  /** True for a slow endpoint and for one that has not answered yet. These share half of the slots. */
  get slow(): boolean {
    return this.averageMs === undefined || this.averageMs >= this.settings.slowMs;
  }

  /**
   * True with a closed breaker and fast answers. The backlog of such an endpoint exerts back-pressure on ingress. That
   * of an endpoint without an answer yet does not, because the endpoint may hang.
   */
  get healthy(): boolean {
    return this.breaker.phase === 'closed' && !this.slow;
  }

  /** Counts consecutive deliveries that failed for good, and returns their number. */
  givenUp(outcome: RetryDecision['kind']): number {
    if (outcome === 'success') this.givenUpInARow = 0;
    else if (outcome === 'final') this.givenUpInARow += 1;
    return this.givenUpInARow;
  }

  hasRoom(target: WebhookTarget): boolean {
    const limit = target.concurrency ?? this.settings.concurrencyPerWebhook;
    return this.inFlight < (this.averageMs === undefined ? Math.min(limit, UNPROVEN_CONCURRENCY) : limit);
  }

  prepared(target: WebhookTarget): PreparedTarget | undefined {
    return this.cached?.target === target ? this.cached : undefined;
  }

  /** Rejects when the keys cannot be read or are malformed. */
  async prepare(target: WebhookTarget): Promise<PreparedTarget> {
    const keys = (await target.signingKeys()).map(parseSigningKey);
    const url = URL.canParse(target.url) ? new URL(target.url) : undefined;
    const usable = url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:');
    this.cached = {
      target,
      keys,
      origin: usable ? url.origin : undefined,
      path: usable ? url.pathname + url.search : '/',
    };
    return this.cached;
  }

  started(probe: boolean): void {
    this.inFlight++;
    if (probe) this.breaker = probeStarted(this.breaker);
  }

  /**
   * Returns what has changed: the breaker has opened, or closed again after a probe.
   * @param result `well` is false after no answer, 408, 425, 429 or 5xx, and undefined when the result says nothing
   * about the endpoint.
   */
  finished(result: {
    well: boolean | undefined;
    probe: boolean;
    ms: number;
    now: number;
    random: number;
    holdMs: number;
  }): 'unhealthy' | 'recovered' | undefined {
    const before: BreakerState = this.breaker;
    this.inFlight--;
    const { well, probe, ms, now, random, holdMs } = result;
    this.averageMs = this.averageMs === undefined ? ms : this.averageMs * (1 - WEIGHT) + ms * WEIGHT;
    // A probe always ends the half-open state.
    if (well !== undefined || probe) {
      this.breaker = afterResult(this.breaker, well ?? true, probe, now, random, this.settings.breaker, holdMs);
    }
    // Each pause spaces held deliveries from the start again.
    const { phase } = this.breaker;
    if (phase !== before.phase) this.held = 0;
    this.wakeAll();
    if (before.phase === 'closed' && phase === 'open') return 'unhealthy';
    return before.phase === 'half_open' && phase === 'closed' ? 'recovered' : undefined;
  }

  /** Due time of a delivery that an open breaker puts off: after the probe, and spread because the probe may fail. */
  heldUntil(now: number, random: number): number {
    const probeAt = this.breaker.phase === 'open' ? this.breaker.probeAt : now;
    const place = this.held++ * SPACING_MS;
    if (place > MAX_SPREAD_MS) this.held = 0;
    return Math.round(Math.max(probeAt, now) + place + random * SPACING_MS);
  }

  /** Resolves when an attempt has ended. */
  changed(): Promise<void> {
    return new Promise((wake) => this.waiting.push(wake));
  }

  wakeAll(): void {
    if (this.waiting.length === 0) return;
    const woken = this.waiting;
    this.waiting = [];
    for (const wake of woken) wake();
  }
}
