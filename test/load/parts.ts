/** Messages between the processes of the benchmark. */

export type ClientKind = 'raw' | 'undici';

export interface LoadOptions {
  /** Endpoints. Connections are divided among them. */
  readonly urls: readonly string[];
  /** Identifies the measurement in every body. */
  readonly run: number;
  readonly durationMs: number;
  /** Load before the measurement. It counts for loss but not for time. */
  readonly warmUpMs: number;
  readonly connections: number;
  /** raw: prepared requests on sockets, cheap. undici: the cost of an ordinary Node client. */
  readonly client: ClientKind;
  /**
   * Events per second at fixed times, whatever the answers (open loop). Absent: each connection sends again after its
   * answer (closed loop).
   */
  readonly rate?: number;
}

export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export interface LoadResult {
  readonly sent: number;
  readonly acknowledged: number;
  /** Requests answered 429 or 503. */
  readonly refused: number;
  readonly failed: number;
  /** Ids of events that were not acknowledged. */
  readonly unacknowledged: readonly number[];
  /** Time from the intended send to the answer, ms. */
  readonly answerMs: Quantiles;
  /** Bounds of the measured window, monotonic µs. */
  readonly from: number;
  readonly to: number;
  readonly cpuUs: number;
}

export interface SinkReport {
  readonly distinct: number;
  readonly duplicates: number;
  /** Deliveries per second within the requested window, which covers the load. */
  readonly perSecond: number;
  /** Time from the intended send to the arrival without the warm-up, ms. */
  readonly endToEndMs: Quantiles;
  /** The same for events sent in the first and last third of the window. A difference shows a growing queue. */
  readonly firstThirdMs: Quantiles;
  readonly lastThirdMs: Quantiles;
  /** Ids below `total` that never arrived. */
  readonly missing: readonly number[];
  readonly cpuUs: number;
}

export interface SinkApi {
  begin(options: { run: number }): void;
  /** Number of distinct deliveries of the run so far. */
  count(options: undefined): number;
  report(options: { total: number; from: number; to: number }): SinkReport;
}

export interface GeneratorApi {
  load(options: LoadOptions): Promise<LoadResult>;
}

/**
 * Body of an event, 1,024 bytes. `t`: intended send, monotonic µs. `w`: third of the window (1 to 3), 0 for the
 * warm-up.
 */
export interface LoadBody {
  readonly run: number;
  readonly id: number;
  readonly w: number;
  readonly t: number;
  readonly pad: string;
}

export const BODY_BYTES = 1_024;
