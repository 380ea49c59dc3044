export { type EventStream, type StreamFrame, type StreamOptions } from './event-stream.js';
export { EventStreams } from './event-streams.js';
export { areCaughtUp, isCaughtUp } from './caught-up.js';
export { LiveRecord } from './live-record.js';
export { openStream } from './open-stream.js';
export { type StreamPorts } from './ports.js';
export {
  type Asked,
  type KeptReader,
  type KeptRecords,
  type Shown,
  shownRecord,
  type StreamSource,
} from './stream-source.js';
export { publicReader, readerOf, type StreamReader, type UnsentLimits, unsentLimits } from './unsent-bytes.js';
export { SHOWN_PER_SECOND, WorkspaceStream } from './workspace-stream.js';
