import { afterResult, CLOSED, gateOf, probeStarted, type BreakerState, type Gate } from './breaker.js';
import { parseSigningKey, type SigningKey } from './signing.js';
import { type WebhookTarget } from './webhook-directory.js';
import { type WebhookWorkerSettings } from './webhook-settings.js';

/** A webhook's address and keys, ready for use. */
export interface PreparedTarget {
  readonly target: WebhookTarget;
  /** undefined when the URL cannot be used. */
  readonly origin: string | undefined;
  readonly path: string;
  readonly keys: readonly SigningKey[];
}

/** In flight to an endpoint that has not answered yet: enough to learn of it, few enough not to hurt. */
const UNPROVEN_CONCURRENCY = 2;
/** Weight of one answer in the average response time. */
const WEIGHT = 0.1;
/** Held back deliveries come again one after the other, this far apart. */
const SPACING_MS = 2;
const MAX_SPREAD_MS = 600_000;

/** What the worker remembers of one webhook while it runs. */
export class Endpoint {
  inFlight = 0;
  /** The target that was disabled: it is reported once. */
  disabled: WebhookTarget | undefined;
  private breaker: BreakerState = CLOSED;
  /** undefined until the first result. */
  private averageMs: number | undefined;
  private held = 0;
  private cached: PreparedTarget | undefined;
  private waiting: (() => void)[] = [];

  constructor(
    readonly id: string,
    private readonly settings: WebhookWorkerSettings,
  ) {}

  gate(now: number): Gate {
    return gateOf(this.breaker, now);
  }

  /** Slow or not yet known: it shares half of the slots. */
  get slow(): boolean {
    return this.averageMs === undefined || this.averageMs >= this.settings.slowMs;
  }

  /** Breaker closed and not found slow: its backlog may slow down ingress. */
  get healthy(): boolean {
    return this.breaker.phase === 'closed' && (this.averageMs ?? 0) < this.settings.slowMs;
  }

  hasRoom(target: WebhookTarget): boolean {
    const limit = target.concurrency ?? this.settings.concurrencyPerWebhook;
    return this.inFlight < (this.averageMs === undefined ? Math.min(limit, UNPROVEN_CONCURRENCY) : limit);
  }

  prepared(target: WebhookTarget): PreparedTarget | undefined {
    return this.cached?.target === target ? this.cached : undefined;
  }

  /** Rejects when the keys cannot be had or are malformed. */
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

  /** @param well the endpoint answered, and not with 408, 425, 429 or 5xx. Undefined: says nothing of the endpoint. */
  finished(result: {
    well: boolean | undefined;
    probe: boolean;
    ms: number;
    now: number;
    random: number;
    holdMs: number;
  }): void {
    const before = this.breaker.phase;
    this.inFlight--;
    const { well, probe, ms, now, random, holdMs } = result;
    this.averageMs = this.averageMs === undefined ? ms : this.averageMs * (1 - WEIGHT) + ms * WEIGHT;
    // A probe always ends the half-open state.
    if (well !== undefined || probe) {
      this.breaker = afterResult(this.breaker, well ?? true, probe, now, random, this.settings.breaker, holdMs);
    }
    // Each pause starts to space them out anew.
    if (this.breaker.phase !== before) this.held = 0;
    this.wakeAll();
  }

  /** When a held back delivery may come again: after the probe, spread so that a failed probe meets few. */
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
