export { type EventStream, type StreamFrame, type StreamOptions } from './event-stream.js';
export { EventStreams } from './event-streams.js';
export { isCaughtUp } from './caught-up.js';
export { LiveRecord } from './live-record.js';
export { openStream } from './open-stream.js';
export { type StreamPorts } from './ports.js';
export { publicReader, readerOf, type StreamReader, type UnsentLimits, unsentLimits } from './unsent-bytes.js';
