import path from 'node:path';
import { EVENTS_WAIT_MS } from '#libs/accounts/index.js';
import { startRecordSweeper } from '#libs/data-stores/index.js';
import { HostDeathNotes } from '#libs/runner/host-deaths.js';
import { propBinder } from '#libs/runner/prop-binder.js';
import { type Callers, type Replies, type RunnerDependencies, type RunnerMetrics } from '#libs/runner/runner-ports.js';
import { type Runner, startRunner } from '#libs/runner/source/runner.js';
import { type CommitRouting } from '#libs/runner/source-routing.js';
import { boundValue, type EndpointUrls } from '#libs/sources/index.js';
import { INVOCATIONS } from '#libs/stream-log/topics.js';
import { type Logger, type Metrics } from '#libs/telemetry/index.js';
import { authsOf } from '../account-auths.js';
import { type ControlPlane } from '../control-plane.js';
import { observeEgress } from '../egress-metrics.js';
import { pressureOf } from '#libs/cluster/told-pressure.js';
import { pressureSettings } from '#libs/ingress/pressure-settings.js';
import { installPackages } from '#libs/runner/packages-beside.js';
import { type Sandboxing } from '../sandboxing.js';
import { type Room, type RoleProcess } from './role-process.js';
import { wakeUnfinished, workflowRuns } from './workflow-runs.js';
import { type Backlog } from '#libs/ingress/local-backlog.js';

export interface RunnerRoleOptions {
  readonly backlog: Pick<Backlog, 'unroutedOf'>;
  readonly room?: Pick<Room, 'isPaused'>;
  readonly sandboxing: Sandboxing;
  readonly urls: EndpointUrls;
  /** Base of the URLs of runs. */
  readonly publicUrl: string;
  /** Receives the outcomes of runs for which a caller waits. */
  readonly replies: Replies;
  /**
   * Routing within the commit. Present where the router is in this process and the log stores all records of a commit
   * or none.
   */
  readonly routing?: CommitRouting;
  /** Absent where one process has every role. */
  readonly callers?: Callers;
  /** Time for runs to end at shutdown. Default: no limit but that of the shutdown. */
  readonly closeMs?: number;
}

/** Most runs of one source in its process at a time: enough to fill a frame while another is in transit. */
const RUN_WINDOW = 64;

/** Role `runner`, steps 2 and 3 of the path of an event: runs user code in `sandboxing`. */
export const startRunnerRole = async (own: RoleProcess, options: RunnerRoleOptions): Promise<Runner> => {
  const { config, plane, topics, logger, metrics, handedOver, platformEvents, closing, reportBacklog } = own;
  const { backlog, room, sandboxing, urls, publicUrl, replies, routing, callers, closeMs } = options;
  const { engines, clock, views, usage, follower } = plane;
  const limits = pressureSettings(config);
  // Notes of runs in flight, in a folder of this machine that outlives the process.
  const hostDeaths = HostDeathNotes.open(path.join(config.dataDir, 'runs-in-flight'), (error) =>
    logger.warn({ err: error }, 'runs_in_flight.not_noted: a run that ends this process would be run again'),
  );
  const packages = installPackages(engines.blobs, sandboxing.packages);
  const binder = propBinder(
    engines.vault,
    (key) => urls.urlOf(key),
    boundValue,
    authsOf({ config, plane, egress: sandboxing.egress, log: logger, waitMs: EVENTS_WAIT_MS }),
  );
  const counted = countingUsage(metrics, usage);
  const ofRuns = { sandboxing, binder, packages, replies, hostDeaths, publicUrl, metrics: counted };
  const workflows = await workflowRuns(own, ofRuns);
  const runner = await startRunner(
    {
      log: engines.log,
      handedOver,
      journal: engines.journal,
      routing,
      delayed: engines.delayed,
      blobs: engines.blobs,
      packages,
      topics,
      replies,
      callers,
      clock,
      logger,
      // docs/adr/0006
      isPaused: (sourceId) => room?.isPaused(sourceId) === true || backlog.unroutedOf(sourceId) >= limits.unrouted,
      hostDeaths,
      onGivenUp: tellOfGivenUp(platformEvents),
      sources: views.sources,
      follower,
      sandboxes: sandboxing.pool,
      binder,
      settings: settingsOf(config),
      metrics: counted,
    },
    [workflows],
  );
  closing('runs', () => runner.close(closeMs));
  // Closed before the runs, because a process killed for closing too slowly is not a death of the host.
  closing('runs in flight', async () => hostDeaths.close());
  noteSpinning(sandboxing, runner, logger);
  sweepRecords(own);
  reportBacklog({
    group: 'runner',
    prefix: INVOCATIONS,
    backlog: () => runner.backlog(),
    pressure: () => pressureOf(handedOver, (id) => runner.waitingFor(id)),
  });
  observeSandboxes(sandboxing, metrics);
  await wakeUnfinished(own);
  return runner;
};

const settingsOf = ({
  sourceConcurrency,
  runTimeoutS,
  hookTimeoutS,
}: RoleProcess['config']): RunnerDependencies['settings'] => ({
  concurrency: sourceConcurrency,
  httpTimeoutMs: (runTimeoutS ?? 30) * 1_000,
  timerTimeoutMs: (runTimeoutS ?? 60) * 1_000,
  hookTimeoutMs: hookTimeoutS * 1_000,
  window: RUN_WINDOW,
});

const countingUsage = (metrics: Metrics, usage: ControlPlane['usage']): RunnerMetrics => ({
  ...metrics.runner,
  run: (status, workspaceId, ms) => {
    metrics.runner.runs(status, 1);
    usage.recordRun(workspaceId, ms);
    if (status !== 'ok') usage.add(workspaceId, 'errors');
  },
  emits: (count, workspaceId) => {
    metrics.runner.emits(count);
    usage.add(workspaceId, 'events', count);
  },
});

const tellOfGivenUp =
  (events: RoleProcess['platformEvents']): NonNullable<RunnerDependencies['onGivenUp']> =>
  (subject, workspaceId, text) =>
    events.report({ kind: 'run_given_up', workspaceId, subject, message: `a run of source ${subject}: ${text}` });

const sweepRecords = ({ plane, logger, closing }: RoleProcess): void => {
  const { engines, views, clock } = plane;
  const onFailure = (error: unknown) => logger.error({ err: error }, 'data_stores.not_swept');
  const sweeper = startRecordSweeper({ records: engines.records, view: views.dataStores, clock, onFailure });
  closing('data stores', () => sweeper.stop());
};

/** Notifies the author when a source's process was ended because it was busy without a run. */
const noteSpinning = ({ pool }: Sandboxing, runner: Runner, logger: Logger): void =>
  pool.onSpinning(({ sourceId, workspaceId, isOfCalls, cpuMs, overMs }) => {
    const used = { source: sourceId, workspace: workspaceId, cpuMs, overMs };
    logger.warn(used, 'sandbox.ended: it was busy while nothing of its source or action ran');
    if (isOfCalls) return;
    const text =
      `its process was ended: it used ${cpuMs} ms of the processor within ${overMs} ms while no run went on. ` +
      'End timers and loops before run returns; the next run starts afresh';
    runner
      .note(sourceId, text)
      .catch((error: unknown) => logger.error({ err: error, source: sourceId }, 'note.failed'));
  });

const observeSandboxes = ({ pool, memory, sockets }: Sandboxing, metrics: Metrics): void => {
  metrics.sampled('sluice_sandboxes', 'Processes of sources and actions', () => ({ ...pool.stats() }), 'state');
  metrics.sampled('sluice_runs_memory', 'Bytes held for runs', () => ({ ...memory.stats() }), 'what');
  metrics.sampled(
    'sluice_workspace_cpu_seconds',
    'Processor time of the processes of sources and actions, of the 20 workspaces that used most',
    () => pool.cpuSeconds(),
    'workspace',
  );
  observeEgress(sockets.usage, metrics);
};
