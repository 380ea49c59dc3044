import { type CollectedRun, RunCollector } from '../host/run-collector.js';

/** A run in the child that was sent at 1,000 ms and may take 100 ms. */
export const collectedRun = (over: Partial<CollectedRun> = {}): RunCollector =>
  new RunCollector({
    n: 1,
    invocationId: 'inv',
    timeoutMs: 100,
    sentAt: 1_000,
    work: 'run',
    eventBytes: 0,
    resolve: () => undefined,
    reject: () => undefined,
    ...over,
  });
