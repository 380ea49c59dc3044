import { choice, flag, integer, optionalInteger } from './setting.js';

const RUNS = 'Runs';
const BUILDS = 'Building components';

export const runs = {
  isolation: choice({
    name: 'SLUICE_ISOLATION',
    group: RUNS,
    values: ['auto', 'jail', 'bwrap', 'unshare', 'process'],
    fallback: 'auto',
    sentence:
      'Isolation of component code. auto takes the strongest level that this machine allows, jail the stronger of bwrap and unshare. bwrap, unshare and process take that level or refuse to start. SECURITY.md lists the guarantees of each level.',
  }),
  inImage: flag({
    name: 'SLUICE_IN_IMAGE',
    group: RUNS,
    fallback: false,
    sentence:
      'Set by the container image. auto then never falls back to process, and the refusal names the docker command to use.',
  }),
  sandboxes: integer({
    name: 'SLUICE_SANDBOXES',
    group: RUNS,
    min: 1,
    max: 10_000,
    fallback: 50,
    unit: 'processes',
    sentence:
      'Sandbox processes at once; the longest idle one is evicted to make room. One with more memory than SLUICE_MEMORY_MB counts as several.',
  }),
  sandboxIdleS: integer({
    name: 'SLUICE_SANDBOX_IDLE_S',
    group: RUNS,
    min: 1,
    max: 86_400,
    fallback: 300,
    unit: 'seconds',
    sentence: 'Time after which a sandbox without work ends.',
  }),
  memoryMb: integer({
    name: 'SLUICE_MEMORY_MB',
    group: RUNS,
    min: 32,
    max: 10_240,
    fallback: 256,
    unit: 'MB',
    sentence: 'Heap of one sandbox, but for those of workflows, whose memory_mb counts.',
  }),
  workflowMemoryMb: integer({
    name: 'SLUICE_WORKFLOW_MEMORY_MB',
    group: RUNS,
    min: 64,
    max: 10_240,
    fallback: 1_024,
    unit: 'MB',
    sentence: 'Largest memory_mb of a workflow. Those that have more already run with this heap.',
  }),
  runTimeoutS: optionalInteger({
    name: 'SLUICE_RUN_TIMEOUT_S',
    group: RUNS,
    min: 1,
    max: 900,
    unit: 'seconds',
    shownDefault: '30 for HTTP, events and actions, 60 for timers',
    sentence: 'Longest run; one value for all kinds when set.',
  }),
  hookTimeoutS: integer({
    name: 'SLUICE_HOOK_TIMEOUT_S',
    group: RUNS,
    min: 1,
    max: 900,
    fallback: 60,
    unit: 'seconds',
    sentence: 'Longest deploy, activate or deactivate hook.',
  }),
  sourceConcurrency: integer({
    name: 'SLUICE_SOURCE_CONCURRENCY',
    group: RUNS,
    min: 1,
    max: 1000,
    fallback: 10,
    unit: 'runs',
    sentence: 'Runs at once of one source without $.service.db; a source with it runs one at a time.',
  }),
  runsKept: integer({
    name: 'SLUICE_RUNS_KEPT',
    group: RUNS,
    min: 1,
    max: 1_000_000,
    fallback: 1_000,
    unit: 'runs',
    sentence: 'Ended runs that a workflow keeps when its data_retention does not say how many. The oldest go first.',
  }),
  runDaysKept: integer({
    name: 'SLUICE_RUN_DAYS_KEPT',
    group: RUNS,
    min: 1,
    max: 3_650,
    fallback: 30,
    unit: 'days',
    sentence: 'Time after its end for which a run is kept when the data_retention of its workflow does not say.',
  }),
  workspaceRunsMb: integer({
    name: 'SLUICE_WORKSPACE_RUNS_MB',
    group: RUNS,
    min: 1,
    max: 1_048_576,
    fallback: 1_024,
    unit: 'MB',
    sentence: 'Size of all runs of a workspace. Beyond it the oldest ended runs go; unfinished ones stay.',
  }),
} as const;

export const builds = {
  buildsAtOnce: integer({
    name: 'SLUICE_BUILDS',
    group: BUILDS,
    min: 2,
    max: 1_000,
    fallback: 4,
    unit: 'builds',
    sentence: 'Components that are built and evaluated at once; one workspace has half of them at most.',
  }),
  buildTimeoutS: integer({
    name: 'SLUICE_BUILD_TIMEOUT_S',
    group: BUILDS,
    min: 1,
    max: 300,
    fallback: 10,
    unit: 'seconds',
    sentence: 'Longest build of one component; without a jail large components take several times longer.',
  }),
} as const;
