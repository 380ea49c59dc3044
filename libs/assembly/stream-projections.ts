import { type Config } from '#libs/config/index.js';
import { setTimeout as pause } from 'node:timers/promises';
import { type AppliedRecords, eventSummariesProjection } from '#libs/events/index.js';
import { type StreamProjection } from '#libs/stream-log/stream-projection.js';
import { StreamFold } from '#libs/stream-log/stream-fold.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { attemptsProjection } from '#libs/webhooks/index.js';
import { type Engines } from './engines.js';

/** Every read model over the stream log. */
export const streamProjections = (
  config: Config,
): { readonly summaries: StreamProjection; readonly attempts: StreamProjection } => ({
  summaries: eventSummariesProjection({ retained: config.eventsKept }),
  attempts: attemptsProjection,
});

export const streamProjector = (
  { log, readModels }: Pick<Engines, 'log' | 'readModels'>,
  projection: StreamProjection,
  onFailure: (error: Error) => void,
): StreamProjector => new StreamProjector({ projection, log, readModels, onFailure });

const FIRST_POLL_MS = 5;
const LONGEST_POLL_MS = 50;

/** Whether the summaries, which another process keeps, hold a record. */
export const appliedEventsIn = ({ readModels }: Pick<Engines, 'readModels'>, config: Config): AppliedRecords => {
  const { summaries } = streamProjections(config);
  return {
    async waitApplied(lane, offset, timeoutMs) {
      const until = performance.now() + timeoutMs;
      for (let wait = FIRST_POLL_MS; ; wait = Math.min(2 * wait, LONGEST_POLL_MS)) {
        if ((await StreamFold.storedOffset(readModels, summaries.schema, lane)) >= offset) return true;
        if (performance.now() + wait > until) return false;
        await pause(wait);
      }
    },
  };
};
