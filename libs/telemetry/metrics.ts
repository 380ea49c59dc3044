import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export const METRICS = Symbol('Metrics');

/** One number, or a number for each value of the label. */
export type Sample = number | Readonly<Record<string, number>>;

/** Interval of samples of the event loop's delay. prom-client's 10 ms would be most of the work of an idle server. */
const LOOP_LOOK_MS = 50;

/** Prometheus metrics of this process. Names begin with `sluice_`, and durations are in seconds. */
export class Metrics {
  readonly registry = new Registry();

  private readonly httpSeconds = this.histogram('sluice_http_request_seconds', 'Time to answer an API request', [
    'method',
    'status',
  ]);
  private readonly ingressTotal = this.tally(
    'sluice_ingress_requests_total',
    'Requests to endpoints and to URLs of runs, by answer',
    'answer',
  );
  private readonly runsTotal = this.tally('sluice_runs_total', 'Finished runs by status', 'status');
  private readonly emitsTotal = this.counter('sluice_emits_total', 'Events emitted, after dedupe', []);
  private readonly duplicatesTotal = this.counter('sluice_emits_deduped_total', 'Emits that dedupe held back', []);
  private readonly failuresTotal = this.counter(
    'sluice_runner_platform_failures_total',
    'Runs that failed because of the platform',
    [],
  );
  private readonly attemptsTotal = this.tally(
    'sluice_webhook_attempts_total',
    'Webhook attempts by outcome',
    'outcome',
  );
  private readonly attemptSeconds = this.histogram('sluice_webhook_attempt_seconds', 'Duration of webhook attempts', [
    'outcome',
  ]);
  private readonly droppedTotal = this.counter(
    'sluice_webhook_dropped_total',
    'Deliveries that ended without an attempt, such as those to an inactive webhook',
    [],
  );
  private readonly deferredTotal = this.counter('sluice_webhook_deferred_total', 'Deferred deliveries', []);
  private readonly writeFailuresTotal = this.counter(
    'sluice_webhook_write_failures_total',
    'Failed writes that are retried',
    [],
  );

  private readonly emailsTotal = this.counter(
    'sluice_emails_total',
    'Emails about errors by outcome: sent, suppressed as a repeat, retried, failed',
    ['outcome'],
  );

  private readonly installsTotal = this.tally(
    'sluice_package_installs_total',
    'Installs of the npm packages of a component by outcome: cached, installed, failed',
    'outcome',
  );
  private readonly installSeconds = this.histogram(
    'sluice_package_install_seconds',
    'Duration of installs of npm packages that were not cached',
    ['outcome'],
  );
  private readonly packagesTotal = this.counter('sluice_packages_downloaded_total', 'npm packages downloaded', []);
  private readonly packageBytes = this.counter(
    'sluice_packages_downloaded_bytes_total',
    'Bytes of the tarballs of npm packages downloaded',
    [],
  );

  /** RunnerMetrics of libs/runner. */
  readonly runner = {
    runs: (status: 'ok' | 'threw' | 'killed', count: number): void => this.runsTotal.add(status, count),
    emits: (count: number): void => this.emitsTotal.inc(count),
    duplicates: (count: number): void => this.duplicatesTotal.inc(count),
    platformFailure: (): void => this.failuresTotal.inc(),
  };

  /** The metrics of libs/ingress. */
  readonly ingress = {
    accepted: (): void => this.ingressTotal.add('accepted', 1),
    refused: (status: number): void => this.ingressTotal.add(String(status), 1),
  };

  /** WebhookMetrics of libs/delivery. */
  readonly webhooks = {
    onAttempt: (outcome: 'success' | 'retry' | 'final', _status: number | null, ms: number): void => {
      this.attemptsTotal.add(outcome, 1);
      this.attemptSeconds.observe({ outcome }, ms / 1000);
    },
    onDeferred: (count: number): void => this.deferredTotal.inc(count),
    onDropped: (): void => this.droppedTotal.inc(),
    onWriteFailure: (): void => this.writeFailuresTotal.inc(),
  };

  /** The metrics of libs/mail. */
  readonly mail = {
    email: (outcome: 'sent' | 'suppressed' | 'retried' | 'failed'): void => this.emailsTotal.inc({ outcome }),
  };

  /** InstallMetrics of libs/composition. */
  readonly packages = {
    onInstall: (outcome: 'cached' | 'installed' | 'failed', downloaded: number, bytes: number, ms: number): void => {
      this.installsTotal.add(outcome, 1);
      if (outcome !== 'cached') this.installSeconds.observe({ outcome }, ms / 1000);
      this.packagesTotal.inc(downloaded);
      this.packageBytes.inc(bytes);
    },
  };

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LOOP_LOOK_MS });
  }

  httpRequest(method: string, status: number, ms: number): void {
    this.httpSeconds.observe({ method, status: String(status) }, ms / 1000);
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  /** Makes a counter for hot paths. Adding updates a small map, and the Prometheus counter is filled when scraped. */
  private tally(name: string, help: string, label: string): { add(value: string, count: number): void } {
    const counts = new Map<string, number>();
    new Counter({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [value, count] of counts) this.inc({ [label]: value }, count);
      },
    });
    return { add: (value, count) => void counts.set(value, (counts.get(value) ?? 0) + count) };
  }

  gauge<L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  histogram<L extends string>(name: string, help: string, labelNames: readonly L[]): Histogram<L> {
    const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
    return new Histogram({ name, help, labelNames: [...labelNames], buckets, registers: [this.registry] });
  }

  /** Registers a number kept elsewhere, such as backlog, lag or sandboxes. It is read at each scrape. */
  sampled(name: string, help: string, read: () => Sample | Promise<Sample>, label = 'name'): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      async collect() {
        const sample = await read();
        this.reset();
        if (typeof sample === 'number') this.set(sample);
        else for (const [value, number] of Object.entries(sample)) this.set({ [label]: value }, number);
      },
    });
  }

  /** Metrics in the Prometheus text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}
