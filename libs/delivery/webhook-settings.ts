import { type Dispatcher } from 'undici';
import { type Clock } from '#libs/kernel/clock.js';
import { type FreshTables } from '#libs/kernel/table-freshness.js';
import { REVOKE_MS, type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { DEFAULT_BREAKER, type BreakerSettings } from './breaker.js';
import { DEFAULT_RETRIES, type RetrySettings } from './retry-policy.js';
import { type DueStore } from '#libs/due/due-store.js';
import { type WebhookDirectory } from './webhook-directory.js';

export interface WebhookWorkerSettings {
  /** Consumer group on the delivery topics. */
  readonly group: string;
  /**
   * Most deliveries in flight at once, to one webhook and in total. Slow and unknown endpoints share half of the total.
   */
  readonly concurrencyPerWebhook: number;
  readonly concurrency: number;
  readonly maxBatch: number;
  readonly maxUnacked: number;
  readonly retries: RetrySettings;
  readonly breaker: BreakerSettings;
  /** Consecutive deliveries failed for good at which the webhook is disabled; 0 never. Counted since the start. */
  readonly disableAfter: number;
  /** Average answer time above which an endpoint counts as slow, so that it exerts no back-pressure on ingress. */
  readonly slowMs: number;
  /** Age at which a delivery put off by an open breaker ends. Above the sum of the pauses of DEFAULT_RETRIES. */
  readonly maxAgeMs: number;
  readonly userAgent: string;
  /** Most bytes of a response that are read. The connection is closed when a response is longer. */
  readonly maxResponseBytes: number;
  /** Most bytes of a response kept in the attempt record. */
  readonly snippetBytes: number;
  /** How long `close` waits for deliveries in flight. */
  readonly closeMs: number;
  /**
   * How long the release of a lane waits for deliveries in flight. Below REVOKE_MS, the time that the next owner waits.
   */
  readonly revokeMs: number;
}

export const DEFAULT_WEBHOOK_SETTINGS: WebhookWorkerSettings = {
  group: 'webhook-worker',
  concurrencyPerWebhook: 32,
  concurrency: 1024,
  maxBatch: 256,
  maxUnacked: 1024,
  retries: DEFAULT_RETRIES,
  breaker: DEFAULT_BREAKER,
  disableAfter: 0,
  slowMs: 1000,
  maxAgeMs: 4 * 86_400_000,
  userAgent: 'Sluice-Webhooks/1',
  maxResponseBytes: 20 * 1024,
  snippetBytes: 2048,
  closeMs: 10_000,
  revokeMs: REVOKE_MS - 2_000,
};

export interface WebhookMetrics {
  /** Called for each finished attempt; `status` is null without an answer. */
  onAttempt?(outcome: 'success' | 'retry' | 'final', status: number | null, ms: number, workspaceId: string): void;
  /** Called for each delivery that is given up, with an entry in the list of attempts. */
  onFailed?(workspaceId: string): void;
  /** Called for deliveries put off, for example because a breaker is open. */
  onDeferred?(count: number): void;
  /** Called for each delivery that ends without an attempt, such as one to an inactive webhook. */
  onDropped?(): void;
  /** Called when a write to the log or the due store failed; the write is retried. */
  onWriteFailure?(): void;
}

export interface DeliveryLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface WebhookWorkerOptions {
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly due: Pick<DueStore, 'has' | 'put' | 'remove' | 'waitingOf'>;
  readonly directory: WebhookDirectory;
  /** A delivery waits until these say that `directory` is current. */
  readonly tables: FreshTables;
  /** The guarded dispatcher of createEgress. */
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** Returns a number in [0, 1). Default: Math.random. */
  readonly random?: () => number;
  readonly settings?: Partial<WebhookWorkerSettings>;
  readonly metrics?: WebhookMetrics;
  /** Called when deliveries to a failing webhook are put off, and when they flow again. Must not throw. */
  readonly onHealth?: (webhookId: string, change: 'unhealthy' | 'recovered') => void;
  /**
   * Called once per state of the webhook, when it answers 410 or fails `disableAfter` deliveries. A rejection is
   * logged.
   */
  readonly onDisable: (webhookId: string, reason: string) => void | Promise<void>;
  readonly logger: DeliveryLogger;
}
