import { type Dispatcher } from 'undici';
import { type Clock } from '#libs/kernel/clock.js';
import { REVOKE_MS, type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { DEFAULT_BREAKER, type BreakerSettings } from './breaker.js';
import { DEFAULT_RETRIES, type RetrySettings } from './retry-policy.js';
import { type RetrySchedule } from './retry-schedule.js';
import { type WebhookDirectory } from './webhook-directory.js';

export interface WebhookWorkerSettings {
  /** Consumer group on the delivery topics. */
  readonly group: string;
  /** Deliveries in flight at once, to one webhook and in all. Slow and unknown endpoints share half of the total. */
  readonly concurrencyPerWebhook: number;
  readonly concurrency: number;
  readonly maxBatch: number;
  readonly maxUnacked: number;
  readonly retries: RetrySettings;
  readonly breaker: BreakerSettings;
  /** An endpoint whose answers take longer on average is slow: it exerts no back-pressure on ingress. */
  readonly slowMs: number;
  /** A delivery held back by an open breaker ends after this age. */
  readonly maxAgeMs: number;
  /** Deliveries to a webhook that the directory does not know (yet) wait so long, time after time, then are dropped. */
  readonly unknownDelaysMs: readonly number[];
  readonly userAgent: string;
  /** What is read of a response; beyond it the connection is closed. */
  readonly maxResponseBytes: number;
  /** What of it is kept in the attempt record. */
  readonly snippetBytes: number;
  /** Longest time between two looks at the schedule: another process may have put something there. */
  readonly pollMs: number;
  /** How long `close` waits for deliveries in flight. */
  readonly closeMs: number;
  /** The same for a lane that another worker is to have. Below REVOKE_MS, which is how long that one waits. */
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
  slowMs: 1000,
  maxAgeMs: 4 * 86_400_000,
  unknownDelaysMs: [1000, 5000],
  userAgent: 'Sluice-Webhooks/1',
  maxResponseBytes: 20 * 1024,
  snippetBytes: 2048,
  pollMs: 5000,
  closeMs: 10_000,
  revokeMs: REVOKE_MS - 2_000,
};

export interface WebhookMetrics {
  /** Each finished attempt; `status` null when there was no answer. */
  onAttempt?(outcome: 'success' | 'retry' | 'final', status: number | null, ms: number): void;
  /** Deliveries put off because a breaker is open or a webhook is not yet known. */
  onDeferred?(count: number): void;
  /** A write to the log or the schedule failed; it is tried again. */
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
  readonly schedule: RetrySchedule;
  /** Filled before the worker starts. */
  readonly directory: WebhookDirectory;
  /** The guarded one of createEgress. */
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** In [0, 1). Default Math.random. */
  readonly random?: () => number;
  readonly settings?: Partial<WebhookWorkerSettings>;
  /** Whether this worker brings back the retries that are due (default), or a retry pump of another process does. */
  readonly pump?: 'here' | 'elsewhere' | undefined;
  readonly metrics?: WebhookMetrics;
  /** The endpoint answered 410. Called once for each state of the webhook; a rejection is logged. */
  readonly onDisable: (webhookId: string, reason: string) => void | Promise<void>;
  readonly logger: DeliveryLogger;
}
