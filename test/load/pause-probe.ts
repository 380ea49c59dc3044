import { openSync, readSync, writeFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import workerThreads, { isMainThread, threadId, type WorkerOptions } from 'node:worker_threads';
import { monotonicUs } from './monotonic.js';
import { type Collection, type Gap, type ThreadNotes } from './pause-causes.js';

/**
 * Preloaded into the server and each of its threads by `npm run pauses`. Notes when the thread's event loop stood still,
 * and what it did meanwhile. Each thread writes its notes to the folder of SLUICE_PAUSES when it ends.
 */

const LEAST_MS = 5;
const TICK_MS = 1;
const KINDS: Readonly<Record<number, string>> = { 1: 'scavenge', 2: 'minor', 4: 'mark-compact', 8: 'incremental step' };

const nowMs = (): number => monotonicUs() / 1_000;
/** `performance.now` counts from another moment than the monotonic clock. */
const offsetMs = nowMs() - performance.now();

const gaps: Gap[] = [];
const collections: Collection[] = [];

/** The types of Node 20 lack `detail`. */
type CollectionEntry = PerformanceEntry & { readonly detail?: { readonly kind: number } };

const note = (entries: readonly CollectionEntry[]): void => {
  for (const { startTime, duration, detail } of entries) {
    const kind = detail?.kind ?? 0;
    if (duration >= 1) collections.push({ at: startTime + offsetMs, ms: duration, kind: KINDS[kind] ?? String(kind) });
  }
};

/** Milliseconds in which this thread ran, and in which it waited for a core. */
const schedule = (): (() => readonly [number, number]) => {
  const file = openSync('/proc/thread-self/schedstat', 'r');
  const buffer = Buffer.alloc(64);
  return () => {
    const [ran, ready] = buffer.toString('latin1', 0, readSync(file, buffer, 0, 64, 0)).split(' ');
    return [Number(ran) / 1e6, Number(ready) / 1e6];
  };
};

const noteGaps = (): void => {
  const read = schedule();
  let [at, [ran, ready]] = [nowMs(), read()];
  setInterval(() => {
    const [now, [nowRan, nowReady]] = [nowMs(), read()];
    const ms = now - at - TICK_MS;
    if (ms >= LEAST_MS) gaps.push({ at: at + TICK_MS, ms, ran: nowRan - ran, ready: nowReady - ready });
    [at, ran, ready] = [now, nowRan, nowReady];
  }, TICK_MS).unref();
};

/** Threads have no names in Node 20, so each one gets that of its file in its environment. */
const nameThreads = (): void => {
  workerThreads.Worker = class extends workerThreads.Worker {
    constructor(file: string | URL, options: WorkerOptions = {}) {
      super(file, { ...options, env: { ...process.env, SLUICE_PAUSES_THREAD: basename(String(file), '.js') } });
    }
  };
  syncBuiltinESMExports();
};

const samplesOf = ({ nodes, samples = [], timeDeltas = [], startTime }: Profiler.Profile): ThreadNotes['samples'] => {
  const names = new Map(nodes.map(({ id, callFrame: { functionName } }) => [id, functionName]));
  let us = startTime;
  return samples.map((id, n) => ({ at: (us += timeDeltas[n] ?? 0) / 1_000, name: names.get(id) ?? '' }));
};

const profile = (): (() => ThreadNotes['samples']) => {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 1_000 });
  session.post('Profiler.start');
  return () => {
    let found: ThreadNotes['samples'] = [];
    session.post('Profiler.stop', (_error, result) => (found = samplesOf(result.profile)));
    return found;
  };
};

const folder = process.env['SLUICE_PAUSES'];
if (folder !== undefined) {
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  noteGaps();
  if (isMainThread) nameThreads();
  const ended = process.env['SLUICE_PAUSES_PROFILE'] === undefined ? undefined : profile();
  process.once('exit', () => {
    note(observer.takeRecords());
    const thread = isMainThread ? 'main' : (process.env['SLUICE_PAUSES_THREAD'] ?? String(threadId));
    const notes: ThreadNotes = { thread, gaps, collections, samples: ended?.() ?? [] };
    writeFileSync(join(folder, `${process.pid}-${threadId}.json`), JSON.stringify(notes));
  });
}
