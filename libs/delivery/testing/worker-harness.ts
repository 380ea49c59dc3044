import { afterEach, beforeEach } from '@jest/globals';
import { type ServerResponse } from 'node:http';
import { Agent } from 'undici';
import { endsWithin } from '#libs/async/deadline.js';
import { type Clock } from '#libs/kernel/clock.js';
import { FRESH } from '#libs/kernel/testing/fresh-tables.js';
import { type AttemptValue, attemptRecord, attemptsOf } from '#libs/stream-log/attempt-records.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type WebhookTarget } from '../webhook-directory.js';
import { type WebhookWorkerOptions, type WebhookWorkerSettings } from '../webhook-settings.js';
import { startWebhookWorker, type WebhookWorker } from '../webhook-worker.js';
import { DuePump } from '#libs/due/due-pump.js';
import { startSink, type HttpSink, type Received } from './http-sink.js';
import { InMemoryDueStore } from '#libs/due/testing/in-memory-due-store.js';

export const KEY = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const TOPICS = perEmitterTopics({ emitsAgeMs: 1e9, emitsBytes: 1e9 });
export const FAST_RETRIES = { delaysMs: [10, 10, 10], jitter: 0, maxRetryAfterMs: 60_000 };

export const answerOk = (_: Received, res: ServerResponse): void => void res.end('ok');
export const answerWith =
  (status: number) =>
  (_: Received, res: ServerResponse): void =>
    void res.writeHead(status).end();

export interface Attempt extends AttemptValue {
  readonly headers: Readonly<Record<string, string>>;
}

/** Gives up after 20 s, so that a failed test leaves no loop behind. */
export const until = async (done: () => boolean): Promise<void> => {
  for (const end = Date.now() + 20_000; !done(); await new Promise((resolve) => setTimeout(resolve, 2))) {
    if (Date.now() > end) throw new Error(`still waiting for ${done.toString()}`);
  }
};

export const idsAt = ({ received }: HttpSink): string[] => received.map(({ headers }) => String(headers['webhook-id']));

/** A worker on in-memory engines and real sinks. Closes after a test everything that the test started. */
export class WorkerHarness {
  log = new InMemoryStreamLog();
  due = new InMemoryDueStore();
  readonly targets = new Map<string, WebhookTarget>();
  readonly disabled: string[] = [];
  readonly errors: string[] = [];
  /** Added to the real time, so that no test has to wait for a pause. */
  aheadMs = 0;
  private readonly clock: Clock = { now: () => Date.now() + this.aheadMs };
  private readonly agent = new Agent();
  private readonly sinks: HttpSink[] = [];
  private readonly workers: WebhookWorker[] = [];

  async sink(...args: Parameters<typeof startSink>): Promise<HttpSink> {
    const started = await startSink(...args);
    this.sinks.push(started);
    return started;
  }

  async webhook(id: string, url: string, more: Partial<WebhookTarget> = {}): Promise<void> {
    const base = { id, url, workspaceId: 'o_1', active: true, timeoutMs: 2000, signingKeys: () => [KEY] };
    this.targets.set(id, { ...base, ...more });
    await this.log.createTopic(`deliveries.${id}`, {});
  }

  async start(
    settings: Partial<WebhookWorkerSettings> = {},
    { pump, ...more }: Partial<WebhookWorkerOptions> & { readonly pump?: 'elsewhere' } = {},
  ): Promise<WebhookWorker> {
    const complain = (fields: object, message: string): number =>
      this.errors.push(`${message} ${JSON.stringify(fields)}`);
    await this.log.createTopic('attempts', {});
    const worker = await startWebhookWorker({
      log: this.log,
      due: this.due,
      clock: this.clock,
      dispatcher: this.agent,
      topics: TOPICS,
      directory: { find: (id) => this.targets.get(id) },
      tables: FRESH,
      settings: { retries: FAST_RETRIES, closeMs: 200, ...settings },
      onDisable: (id) => void this.disabled.push(id),
      logger: { info: () => undefined, warn: complain, error: complain },
      ...more,
    });
    const pumping = pump === 'elsewhere' ? undefined : this.startPump((entry) => worker.postpone(entry));
    const close = async (): Promise<void> => {
      if (pumping) await endsWithin(pumping.close(), 200);
      await worker.close();
    };
    const started = { ...worker, close };
    this.workers.push(started);
    return started;
  }

  startPump(postpone?: WebhookWorker['postpone']): { close(): Promise<void> } {
    const error = (fields: object): void => void this.errors.push(String((fields as { err: unknown }).err));
    const logger = { error };
    const { log, due, clock } = this;
    return new DuePump({ log, due, topics: TOPICS, clock, postpone, logger, pollMs: 5 }).start();
  }

  delivery(id: string, n: number): LogRecord {
    return {
      topic: `deliveries.${id}`,
      key: id,
      headers: {
        id: `dlv_${id}_${n}`,
        webhook: id,
        workspace: 'o_1',
        emitter: 'dc_1',
        channel: '',
        emit: `emit${n}`,
        event: `1-${n}`,
        attempt: '1',
        at: String(Date.now()),
      },
      value: `{"n":${n},"text":"ü"}`,
    };
  }

  async deliver(id: string, count: number, from = 1): Promise<void> {
    await this.log.publish(Array.from({ length: count }, (_, i) => this.delivery(id, from + i)));
  }

  attempts(): Attempt[] {
    const attempts = this.log.recordsOf('attempts').flatMap((record) => attemptsOf(record));
    return attempts.map((attempt) => ({ ...attempt.value, headers: attemptRecord(attempt).headers }));
  }

  /** Resolves when `count` attempts are recorded. */
  attemptsRecorded(count: number): Promise<void> {
    return until(() => this.attempts().length >= count);
  }

  lag(id: string): number {
    return this.log.uncommitted('webhook-worker', `deliveries.${id}`);
  }

  async close(): Promise<void> {
    this.log.beforePublish = () => undefined;
    this.due.beforePut = () => undefined;
    this.due.beforeSetOut = () => undefined;
    this.due.beforeRemove = () => undefined;
    await Promise.all(this.workers.map((worker) => worker.close()));
    await Promise.all(this.sinks.map((sink) => sink.close()));
    await this.agent.destroy();
  }
}

/** Creates a fresh harness for each test of the file. */
export const harnessForEach = (): (() => WorkerHarness) => {
  let harness: WorkerHarness | undefined;
  beforeEach(() => {
    harness = new WorkerHarness();
  });
  afterEach(async () => {
    await harness?.close();
    harness = undefined;
  });
  return () => {
    if (harness === undefined) throw new Error('no test is running');
    return harness;
  };
};
