import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type EventStream, type StreamOptions } from './event-stream.js';
import { type EventStreams } from './event-streams.js';
import { type StreamReader } from './unsent-bytes.js';

/** A request for a stream, and its response. */
export interface StreamConnection {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Answers with a stream whose live events wait for its `release`. Undefined for a HEAD request, which is answered with
 * the headers alone.
 */
export const openStream = async (
  streams: EventStreams,
  options: StreamOptions,
  reader: StreamReader,
  { request, response }: StreamConnection,
): Promise<EventStream | undefined> => {
  if (request.method === 'HEAD') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
    return undefined;
  }
  request.socket.setNoDelay(true);
  const stream = await streams.open(options, reader, response);
  stream.open();
  return stream;
};
