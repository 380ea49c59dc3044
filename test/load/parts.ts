/** What the processes of the benchmark say to each other. */

export type ClientKind = 'raw' | 'undici';

export interface LoadOptions {
  /** Endpoints; connections are shared out among them. */
  readonly urls: readonly string[];
  /** Tells one measurement from the next, in every body. */
  readonly run: number;
  readonly durationMs: number;
  /** Sent before the measurement; counted for loss, not for time. */
  readonly warmUpMs: number;
  readonly connections: number;
  /** raw: prepared requests on sockets, cheap. undici: what an ordinary Node client costs. */
  readonly client: ClientKind;
  /** Events per second at fixed times, whatever the answers (open loop); absent: each connection sends again as soon as it is answered (closed loop). */
  readonly rate?: number;
}

export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export interface LoadResult {
  readonly sent: number;
  readonly acknowledged: number;
  /** Answered 429 or 503. */
  readonly refused: number;
  readonly failed: number;
  /** Ids not acknowledged. */
  readonly unacknowledged: readonly number[];
  /** From the intended moment of sending to the answer, in ms. */
  readonly answerMs: Quantiles;
  /** The measured window, monotonic µs. */
  readonly from: number;
  readonly to: number;
  readonly cpuUs: number;
}

export interface SinkReport {
  readonly distinct: number;
  readonly duplicates: number;
  /** Deliveries per second in the window asked for: while the load was on. */
  readonly perSecond: number;
  /** From the intended moment of sending to the arrival, in ms; without the warm-up. */
  readonly endToEndMs: Quantiles;
  /** The same of what was sent in the first and in the last third of the window: a growing queue shows here. */
  readonly firstThirdMs: Quantiles;
  readonly lastThirdMs: Quantiles;
  /** Of the ids below `total`: those that never came. */
  readonly missing: readonly number[];
  readonly cpuUs: number;
}

export interface SinkApi {
  begin(options: { run: number }): void;
  /** Distinct deliveries of the run so far. */
  count(options: undefined): number;
  report(options: { total: number; from: number; to: number }): SinkReport;
}

export interface GeneratorApi {
  load(options: LoadOptions): Promise<LoadResult>;
}

/** The body of an event: 1,024 bytes. `t`: intended moment of sending, monotonic µs. `w`: third of the window (1 to 3), 0 for the warm-up. */
export interface LoadBody {
  readonly run: number;
  readonly id: number;
  readonly w: number;
  readonly t: number;
  readonly pad: string;
}

export const BODY_BYTES = 1_024;
