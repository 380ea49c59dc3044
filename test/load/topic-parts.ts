import { type Quantiles } from './parts.js';

/** Messages between the simulation of topic layouts and its client processes. */

export type Layout = 'per_emitter' | 'shared';

export interface CreateResult {
  /** Number of emitters whose topics were created within the time limit. */
  readonly emitters: number;
  /** Number of these whose topics the product created, one request each, eight at a time. */
  readonly oneByOne: number;
  readonly oneByOneSeconds: number;
  /** Seconds to create the remaining topics in large requests. */
  readonly bulkSeconds: number;
  /** Time to create each topic of the one-by-one part. */
  readonly topicMs: Quantiles;
}

export interface PublishResult {
  readonly records: number;
  readonly seconds: number;
  readonly callMs: Quantiles;
  /** CPU time of the publishing process per record, µs. */
  readonly clientCpuUs: number;
}

export interface HeldLanes {
  readonly lanes: number;
  readonly received: number;
}

/** Totals since the process started. They count system calls, so sockets and files together. */
export interface TrafficTotals {
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly cpuUs: number;
  readonly rssMb: number;
}

export interface MetadataCost {
  readonly topics: number;
  readonly ms: number;
  readonly bytes: number;
  readonly cpuUs: number;
}

export interface TopicClientApi {
  create(options: { from: number; to: number; limitMs: number }): Promise<CreateResult>;
  publish(options: { emitters: number; durationMs: number; limit: number }): Promise<PublishResult>;
  consume(options: undefined): Promise<number>;
  held(options: undefined): HeldLanes;
  traffic(options: undefined): TrafficTotals;
  metadata(options: undefined): Promise<MetadataCost>;
  newEmitter(options: { n: number }): Promise<{ readonly key: string; readonly began: number }>;
  /** Monotonic µs; null when the record has not arrived. */
  arrivedAt(options: { key: string }): number | null;
  close(options: undefined): Promise<void>;
}
