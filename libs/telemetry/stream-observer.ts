import { type Logger } from './logger.js';
import { type Metrics } from './metrics.js';

interface EndedStream {
  readonly why: string;
}

/** Records one line and one count for each stream of events that ended. */
export const streamObserver = (logger: Logger, metrics: Metrics): ((ended: EndedStream) => void) => {
  const ended = metrics.counter('sluice_streams_ended_total', 'Streams of events that ended, by reason', ['why']);
  return (stream) => {
    ended.inc({ why: stream.why });
    logger.info(stream, 'stream.ended');
  };
};
