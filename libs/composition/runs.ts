import path from 'node:path';
import { type Config } from '#libs/config/index.js';
import { type HostDeaths, HostDeathNotes } from '#libs/runner/host-deaths.js';
import { propBinder } from '#libs/runner/prop-binder.js';
import { type Replies } from '#libs/runner/runner-ports.js';
import { type Runner, startRunner } from '#libs/runner/runner.js';
import { boundValue, type EndpointUrls } from '#libs/sources/index.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger, type Metrics } from '#libs/telemetry/index.js';
import { type ControlPlane } from './control-plane.js';
import { type Sandboxing } from './sandboxing.js';

export interface RunsOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  /** Stream log that counts the records handed over to consumers. */
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly sandboxing: Sandboxing;
  readonly urls: EndpointUrls;
  readonly replies: Replies;
  /** Whether runs of a source are paused for now (docs/adr/0006). */
  readonly isPaused: (sourceId: string) => boolean;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly hostDeaths: HostDeaths;
}

/** Opens the notes of runs in flight, in a folder of this machine that outlives the process. */
export const openHostDeaths = (config: Config, logger: Logger): HostDeathNotes =>
  HostDeathNotes.open(path.join(config.dataDir, 'runs-in-flight'), (error) =>
    logger.warn({ err: error }, 'runs_in_flight.not_noted: a run that ends this process would be run again'),
  );

/** Most runs of one source in its process at a time: enough to fill a frame while another is in transit. */
const RUN_WINDOW = 64;

export const startRuns = async (options: RunsOptions): Promise<Runner> => {
  const { config, plane, log, topics, sandboxing, urls, replies, isPaused, metrics, logger, hostDeaths } = options;
  const { engines, clock, views, usage, follower } = plane;
  const seconds = (given: number | null, otherwise: number): number => (given ?? otherwise) * 1_000;
  const runner = await startRunner({
    log,
    journal: engines.journal,
    blobs: engines.blobs,
    topics,
    replies,
    clock,
    logger,
    isPaused,
    hostDeaths,
    sources: views.sources,
    follower,
    sandboxes: sandboxing.pool,
    binder: propBinder(engines.vault, (key) => urls.urlOf(key), boundValue),
    settings: {
      concurrency: config.sourceConcurrency,
      httpTimeoutMs: seconds(config.runTimeoutS, 30),
      timerTimeoutMs: seconds(config.runTimeoutS, 60),
      hookTimeoutMs: config.hookTimeoutS * 1_000,
      window: RUN_WINDOW,
    },
    metrics: {
      ...metrics.runner,
      run: (status, workspaceId, ms) => {
        metrics.runner.runs(status, 1);
        usage.recordRun(workspaceId, ms);
      },
    },
  });
  sandboxing.pool.onSpinning(({ sourceId, workspaceId, cpuMs, overMs }) => {
    const used = { source: sourceId, workspace: workspaceId, cpuMs, overMs };
    logger.warn(used, 'sandbox.ended: it was busy while nothing of its source ran');
    const text =
      `its process was ended: it used ${cpuMs} ms of the processor within ${overMs} ms while no run went on. ` +
      'End timers and loops before run returns; the next run starts afresh';
    runner
      .note(sourceId, text)
      .catch((error: unknown) => logger.error({ err: error, source: sourceId }, 'note.failed'));
  });
  return runner;
};
