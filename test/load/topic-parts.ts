import { type Quantiles } from './parts.js';

/** What the simulation of topic layouts and its client processes say to each other. */

export type Layout = 'per_emitter' | 'shared';

export interface CreateResult {
  /** As many as came to be within the time limit. */
  readonly emitters: number;
  /** Of these, whose topics the product made, one request each, eight at a time. */
  readonly oneByOne: number;
  readonly oneByOneSeconds: number;
  /** Of the rest, in large requests. */
  readonly bulkSeconds: number;
  /** Of each topic made one by one. */
  readonly topicMs: Quantiles;
}

export interface PublishResult {
  readonly records: number;
  readonly seconds: number;
  readonly callMs: Quantiles;
  /** CPU µs a record of the publishing process. */
  readonly clientCpuUs: number;
}

export interface HeldLanes {
  readonly lanes: number;
  readonly received: number;
}

/** Since the process started: system calls, so sockets and files together. */
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
  /** Monotonic µs; null when the record has not come. */
  arrivedAt(options: { key: string }): number | null;
  close(options: undefined): Promise<void>;
}
