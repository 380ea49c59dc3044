import { type ServerResponse } from 'node:http';

export interface LastAnswer {
  readonly status: number;
  /** Public word of the error body. */
  readonly code: string;
  readonly error: string;
  readonly details?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Ends a response of which nothing is known, after something failed: with this error while no byte was sent, else by
 * ending the connection. Never throws, so that the last catch of a handler may call it.
 */
export const answerAtLast = (res: ServerResponse, { status, code, error, details, headers = {} }: LastAnswer): void => {
  try {
    if (res.headersSent || res.destroyed) return void res.destroy();
    // What was set for the answer that failed may be why it failed.
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    const body = JSON.stringify({ error, code, ...(details ? { details } : {}) });
    res.writeHead(status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    });
    res.end(res.req.method === 'HEAD' ? undefined : body);
  } catch {
    // Nothing is left to say to this client, and the reason was logged by the caller.
    res.destroy();
  }
};
