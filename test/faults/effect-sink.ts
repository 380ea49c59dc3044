import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';

/** A side effect of a step, as its code posted it. */
export interface Effect {
  readonly run: string;
  readonly step: string;
  readonly runs: number;
  readonly attempt: number;
  readonly key: string;
  readonly value: unknown;
  /** What the step found of earlier steps. */
  readonly seen: Readonly<Record<string, unknown>>;
  /** Index of the item of a `for_each`. */
  readonly item?: number;
  /** When it arrived, in monotonic milliseconds. */
  readonly at: number;
}

export interface Message {
  readonly sendId: string;
  readonly run: string;
  readonly value: unknown;
}

/** The world outside, which keeps every side effect and every message of the steps, by run. */
export class EffectSink {
  readonly effects = new Map<string, Effect[]>();
  readonly messages = new Map<string, Message[]>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<EffectSink> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const sink = new EffectSink(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      // A process that was killed during its request had no effect.
      request.on('error', () => response.destroy());
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Effect & Message;
        if (request.url === '/effect') kept(sink.effects, { ...body, at: performance.now() });
        else kept(sink.messages, { ...body, sendId: String(request.headers['x-pd-send-id']) });
        response.end('{}');
      });
    });
    return sink;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

const kept = <T extends { readonly run: string }>(all: Map<string, T[]>, one: T): void => {
  const known = all.get(one.run);
  if (known) known.push(one);
  else all.set(one.run, [one]);
};
