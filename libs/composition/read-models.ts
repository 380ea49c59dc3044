import { type ReadModels } from '#libs/cluster/cluster.js';
import { pollUntil } from '#libs/cluster/poll-until.js';
import { type RebuiltModels } from '#libs/cluster/rebuild.js';
import { type Config } from '#libs/config/index.js';
import { type AppliedRecords, eventSummariesProjection, type EventSettings } from '#libs/events/index.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { StreamFold } from '#libs/stream-log/stream-fold.js';
import { type RunsKept } from '#libs/workflow-history/index.js';
import { type Logger } from '#libs/telemetry/index.js';
import { makeUpcasters, projections, streamReadModelsOf } from './contexts.js';
import { type Engines } from './engines.js';

const MB = 1024 * 1024;
/** Bytes of readable events of a workspace, as a multiple of those of a source. */
const WORKSPACE_TIMES = 16;

export const eventSettings = (config: Config): EventSettings => ({
  retained: config.eventsKept,
  sourceBytes: config.sourceEventsMb * MB,
  workspaceBytes: WORKSPACE_TIMES * config.sourceEventsMb * MB,
  pageBytes: config.pageMb * MB,
});

export const runsKept = ({ runsKept: runs, runDaysKept: days, workspaceRunsMb }: Config): RunsKept => ({
  runs,
  days,
  workspaceBytes: workspaceRunsMb * MB,
});

/** Every read model over the stream log, with these settings. */
export const streamReadModels = (config: Config) => streamReadModelsOf({ settings: eventSettings(config) });

/** Every read model, for a rebuild. */
export const everyReadModel = (config: Config): RebuiltModels => ({
  projections,
  streamProjections: streamReadModels(config).map(({ projection }) => projection),
  upcasters: makeUpcasters(),
});

/** The read models over the event log, in a store. */
export const readModelsIn = (store: ReadModelStore): ReadModels => ({
  store,
  schemas: projections.map(({ schema }) => schema),
});

/** Waits until the event summaries, which another process maintains, contain a record. */
export const appliedEventsIn = (
  { readModels }: Pick<Engines, 'readModels'>,
  config: Config,
  logger: Pick<Logger, 'warn'>,
): AppliedRecords => {
  const { schema } = eventSummariesProjection(eventSettings(config));
  return {
    waitApplied: (lane, offset, timeoutMs) =>
      pollUntil(async () => (await StreamFold.storedOffset(readModels, schema, lane)) >= offset, timeoutMs, logger),
  };
};
