import { setTimeout as pause } from 'node:timers/promises';
import { type PartProcess } from './part-process.js';
import { type GeneratorApi, type LoadOptions, type Quantiles, type SinkApi } from './parts.js';
import { cpuSince, totalOf, usageOf, type PartUsage } from './part-usage.js';
import { storesSince, type StorePerEvent } from './store-figures.js';
import { type Target } from './targets.js';

export interface Figures {
  readonly target: Target['name'];
  readonly sent: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly failed: number;
  readonly delivered: number;
  readonly deliveredPerSecond: number;
  readonly lost: number;
  readonly duplicates: number;
  readonly endToEndMs: Quantiles;
  readonly firstThirdMs: Quantiles;
  readonly lastThirdMs: Quantiles;
  readonly answerMs: Quantiles;
  /** Time from the end of the load until the last acknowledged event arrived. */
  readonly drainMs: number;
  /** CPU time per delivered event of the target's process tree, the load and the sink. */
  readonly cpuUsPerEvent: number;
  readonly loadCpuUsPerEvent: number;
  readonly sinkCpuUsPerEvent: number;
  readonly processes: number;
  readonly rssBeforeMb: { readonly main: number; readonly children: number };
  readonly rssAfterMb: { readonly main: number; readonly children: number };
  /** Usage of each part of the target: CPU µs per delivered event, and its memory afterwards. */
  readonly parts: readonly PartUsage[];
  /** Records, bytes and writes per event. */
  readonly stores?: StorePerEvent;
}

export interface Rig {
  readonly sink: PartProcess<SinkApi>;
  readonly generator: PartProcess<GeneratorApi>;
}

export type LoadShape = Omit<LoadOptions, 'urls' | 'run'>;

const NO_PROGRESS_MS = 20_000;
let runs = 0;

/** Puts load on one target and waits until all acknowledged events, or no more, arrive. Then adds up the figures. */
export const measure = async ({ sink, generator }: Rig, target: Target, shape: LoadShape): Promise<Figures> => {
  const run = ++runs;
  await sink.call('begin', { run });
  const storesBefore = await target.stores?.();
  const before = usageOf(target.parts());
  const load = await generator.call('load', { ...shape, urls: target.urls, run });
  const loadEnded = performance.now();
  await drained(sink, load.acknowledged);
  const drainMs = performance.now() - loadEnded;
  const after = usageOf(target.parts());
  const { from, to } = load;
  const sunk = await sink.call('report', { total: load.sent, from, to });
  const storesAfter = await target.stores?.();
  const unacknowledged = new Set(load.unacknowledged);
  const each = (us: number): number => us / Math.max(1, sunk.distinct);
  return {
    target: target.name,
    sent: load.sent,
    acknowledged: load.acknowledged,
    refused: load.refused,
    failed: load.failed,
    delivered: sunk.distinct,
    deliveredPerSecond: sunk.perSecond,
    lost: sunk.missing.filter((id) => !unacknowledged.has(id)).length,
    duplicates: sunk.duplicates,
    endToEndMs: sunk.endToEndMs,
    firstThirdMs: sunk.firstThirdMs,
    lastThirdMs: sunk.lastThirdMs,
    answerMs: load.answerMs,
    drainMs,
    cpuUsPerEvent: each(totalOf(after).cpuUs - totalOf(before).cpuUs),
    loadCpuUsPerEvent: each(load.cpuUs),
    sinkCpuUsPerEvent: each(sunk.cpuUs),
    processes: totalOf(after).processes,
    rssBeforeMb: rssOf(before),
    rssAfterMb: rssOf(after),
    parts: cpuSince(before, after).map((part) => ({ ...part, cpuUs: each(part.cpuUs) })),
    ...(storesBefore && storesAfter ? { stores: storesSince(storesBefore, storesAfter, sunk.distinct) } : {}),
  };
};

const rssOf = (parts: readonly PartUsage[]): { main: number; children: number } => {
  const { mainRssMb, childrenRssMb } = totalOf(parts);
  return { main: mainRssMb, children: childrenRssMb };
};

const drained = async (sink: PartProcess<SinkApi>, acknowledged: number): Promise<void> => {
  let last = -1;
  let since = performance.now();
  for (;;) {
    const count = await sink.call('count', undefined);
    if (count >= acknowledged) return;
    if (count !== last) {
      last = count;
      since = performance.now();
    } else if (performance.now() - since > NO_PROGRESS_MS) return;
    await pause(20);
  }
};
