import { type Config } from '#libs/config/index.js';
import { propBinder } from '#libs/runtime/prop-binder.js';
import { type Replies } from '#libs/runtime/runner-ports.js';
import { type Runner, startRunner } from '#libs/runtime/runner.js';
import { boundValue, type EndpointUrls } from '#libs/sources/index.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger, type Metrics } from '#libs/telemetry/index.js';
import { type ControlPlane } from './control-plane.js';
import { type Sandboxing } from './sandboxing.js';

export interface RunsOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  readonly topics: TopicPolicy;
  readonly sandboxing: Sandboxing;
  readonly urls: EndpointUrls;
  readonly replies: Replies;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Runs of one source that are with its process at a time: enough to fill a frame while one is on its way. */
const RUN_WINDOW = 64;

export const startRuns = (options: RunsOptions): Promise<Runner> => {
  const { config, plane, topics, sandboxing, urls, replies, metrics, logger } = options;
  const { engines, clock, views, usage, follower } = plane;
  const seconds = (given: number | null, otherwise: number): number => (given ?? otherwise) * 1_000;
  return startRunner({
    ...{ log: engines.log, journal: engines.journal, blobs: engines.blobs, topics, replies, clock, logger },
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
};
