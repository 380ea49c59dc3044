import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { afterEach } from '@jest/globals';
import { type Target } from './api-client.js';
import { eventually } from './wait.js';

export interface ReceivedEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

export interface EventSourceOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string | null;
}

/** A reader of server-sent events like a browser's, without reconnects. */
export class EventSource {
  readonly events: ReceivedEvent[] = [];
  readonly comments: string[] = [];
  /** Body of an answer that is no stream. */
  text = '';
  ended = false;
  private rest = '';

  private constructor(private readonly reply: IncomingMessage) {
    reply.setEncoding('utf8');
    reply.on('data', (chunk: string) => this.take(chunk));
    reply.once('close', () => (this.ended = true));
    reply.on('error', () => undefined);
  }

  /** Resolves with the answer's headers, whatever the status. */
  static async open(url: string, apiKey: string, options: EventSourceOptions = {}): Promise<EventSource> {
    const key = options.key === undefined ? apiKey : options.key;
    const headers = { accept: 'text/event-stream', ...(key === null ? {} : { authorization: `Bearer ${key}` }) };
    const asked = httpRequest(url, { agent: false, headers: { ...headers, ...options.headers } });
    asked.on('error', () => undefined);
    asked.end();
    const [reply] = (await once(asked, 'response')) as [IncomingMessage];
    return new EventSource(reply);
  }

  get status(): number {
    return this.reply.statusCode ?? 0;
  }

  get headers(): IncomingHttpHeaders {
    return this.reply.headers;
  }

  /** Values of the events, parsed. */
  get values(): readonly unknown[] {
    return this.events.map(({ data }) => JSON.parse(data) as unknown);
  }

  get lastId(): string {
    return this.events.at(-1)?.id ?? '';
  }

  async until(count: number): Promise<readonly unknown[]> {
    await eventually(`${count} events of the stream`, () => (this.events.length >= count ? true : undefined), 30_000);
    return this.values;
  }

  async untilEnded(): Promise<void> {
    await eventually('the end of the stream', () => (this.ended ? true : undefined), 30_000);
  }

  /** Stops reading, like a client that hangs. */
  pause(): void {
    this.reply.pause();
  }

  resume(): void {
    this.reply.resume();
  }

  close(): void {
    this.reply.destroy();
  }

  private take(chunk: string): void {
    this.text += this.headers['content-type'] === 'text/event-stream' ? '' : chunk;
    const blocks = (this.rest + chunk).split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) this.takeBlock(block);
  }

  private takeBlock(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) this.comments.push(line.slice(1));
      else fields.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart());
    }
    const [id, event, data] = ['id', 'event', 'data'].map((name) => fields.get(name));
    if (data === undefined) return;
    this.events.push({ data, ...(id === undefined ? {} : { id }), ...(event === undefined ? {} : { event }) });
  }
}

/** Opens streams of a server, which close after the test. */
export const useStreams = (of: { readonly server: Target }) => {
  const opened: EventSource[] = [];
  afterEach(() => {
    for (const each of opened.splice(0)) each.close();
  });
  return async (path: string, options: EventSourceOptions = {}): Promise<EventSource> => {
    const stream = await EventSource.open(`${of.server.url}${path}`, of.server.apiKey, options);
    opened.push(stream);
    return stream;
  };
};
