import { type Config } from '#libs/config/index.js';
import { type AppliedRecords, eventSummariesProjection, type EventSettings } from '#libs/events/index.js';
import { type StreamProjection } from '#libs/stream-log/stream-projection.js';
import { StreamFold } from '#libs/stream-log/stream-fold.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { type Logger } from '#libs/telemetry/index.js';
import { attemptsProjection } from '#libs/webhooks/index.js';
import { type Engines } from './engines.js';
import { pollUntil } from '#libs/cluster/poll-until.js';

const MB = 1024 * 1024;
/** Bytes of readable events of a workspace, as a multiple of those of a source. */
const WORKSPACE_TIMES = 16;

export const eventSettings = (config: Config): EventSettings => ({
  retained: config.eventsKept,
  sourceBytes: config.sourceEventsMb * MB,
  workspaceBytes: WORKSPACE_TIMES * config.sourceEventsMb * MB,
  pageBytes: config.pageMb * MB,
});

/** Every read model over the stream log. */
export const streamProjections = (
  config: Config,
): { readonly summaries: StreamProjection; readonly attempts: StreamProjection } => ({
  summaries: eventSummariesProjection(eventSettings(config)),
  attempts: attemptsProjection,
});

export const streamProjector = (
  { log, readModels, lanes }: Pick<Engines, 'log' | 'readModels' | 'lanes'>,
  projection: StreamProjection,
  onFailure: (error: Error) => void,
): StreamProjector => new StreamProjector({ projection, log, readModels, lanes, onFailure });

/** Waits until the summaries, which another process maintains, hold a record. */
export const appliedEventsIn = (
  { readModels }: Pick<Engines, 'readModels'>,
  config: Config,
  logger: Pick<Logger, 'warn'>,
): AppliedRecords => {
  const { summaries } = streamProjections(config);
  return {
    waitApplied: (lane, offset, timeoutMs) =>
      pollUntil(
        async () => (await StreamFold.storedOffset(readModels, summaries.schema, lane)) >= offset,
        timeoutMs,
        logger,
      ),
  };
};
