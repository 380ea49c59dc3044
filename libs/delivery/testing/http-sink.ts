import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly url: string;
}

export interface HttpSink {
  readonly url: string;
  readonly received: Received[];
  /** Resolves when `count` requests have arrived in total. */
  got(count: number): Promise<void>;
  close(): Promise<void>;
}

type Answer = (request: Received, response: ServerResponse, count: number) => void;

/** Starts a receiver on loopback. `answer` gets the number of the request, from 1. */
export const startSink = async (answer: Answer): Promise<HttpSink> => {
  const received: Received[] = [];
  const waiting: { count: number; done: () => void }[] = [];
  const listener: RequestListener = (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const request = { headers: req.headers, body: Buffer.concat(chunks).toString(), url: req.url ?? '' };
      received.push(request);
      answer(request, res, received.length);
      for (const { count, done } of waiting) if (received.length >= count) done();
    });
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook?a=1`,
    received,
    got: (count) =>
      received.length >= count ? Promise.resolve() : new Promise((done) => waiting.push({ count, done })),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
