import { type ReactorRunner } from '#libs/kernel/reactor.js';
import { type SandboxPool } from '#libs/sandbox/host/sandbox-pool.js';
import { type Metrics, type Readiness } from '#libs/telemetry/index.js';
import { type WholeControlPlane } from './control-plane.js';
import { type DataPlane } from './data-plane.js';
import { type Sandboxing } from './sandboxing.js';

export interface Observed {
  readonly plane: WholeControlPlane;
  readonly dataPlane: DataPlane;
  readonly sandboxing: Sandboxing;
  readonly engines: { stats(): { readonly opsPerCommit: number; readonly queuedBytes: number } };
  readonly reactors: readonly ReactorRunner[];
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly shuttingDown: () => boolean;
}

/** Registers the checks of /readyz and the samples of /metrics. */
export const observe = ({
  plane,
  dataPlane,
  sandboxing,
  engines,
  reactors,
  metrics,
  readiness,
  shuttingDown,
}: Observed): void => {
  const { runner, router, worker, scheduler, gate, summaries, attempts } = dataPlane;
  const readers = () => [
    ...plane.projectors.status(),
    ...reactors.map((reactor) => reactor.status()),
    summaries.status(),
    attempts.status(),
  ];

  readiness.register('process', () => (shuttingDown() ? 'shutting down' : undefined));
  readiness.register('event log', async () => void (await plane.engines.events.lastPosition()));
  readiness.register('projections', () => readers().find(({ failure }) => failure !== undefined)?.failure);

  metrics.sampled('sluice_backlog', 'Records not yet done, by role', () => ({
    runner: runner.backlog(),
    router: router.backlog(),
    webhook_worker: worker.pressure.total(),
    event_summaries: summaries.backlog(),
    attempts: attempts.backlog(),
  }));
  metrics.sampled('sluice_ingress_held', 'Requests held back by pressure', () => gate.waitingCount());
  metrics.sampled('sluice_timers_armed', 'Timers', () => scheduler.size());
  metrics.sampled('sluice_sandboxes', 'Processes of sources', () => ({ ...sandboxing.pool.stats() }), 'state');
  metrics.sampled('sluice_runs_memory', 'Bytes held for runs', () => ({ ...sandboxing.memory.stats() }), 'what');
  metrics.sampled('sluice_router', 'What became of emits', () => ({ ...router.metrics, failures: router.failures() }));
  observeCpu(sandboxing.pool, metrics);
  metrics.sampled(
    'sluice_ops_per_commit',
    'Writes that share one commit, on average',
    () => engines.stats().opsPerCommit,
  );
  metrics.sampled('sluice_write_queue_bytes', 'Bytes that wait for the disk', () => engines.stats().queuedBytes);
  metrics.sampled(
    'sluice_readers_stopped',
    'Projections and reactors that have stopped',
    () => readers().filter(({ failure }) => failure !== undefined).length,
  );
};

export const observeCpu = (pool: Pick<SandboxPool, 'cpuSeconds'>, metrics: Metrics): void =>
  metrics.sampled(
    'sluice_workspace_cpu_seconds',
    'Processor time of the processes of sources, of the 20 workspaces that used most',
    () => pool.cpuSeconds(),
    'workspace',
  );
