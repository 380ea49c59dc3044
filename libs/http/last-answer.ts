import { type ServerResponse } from 'node:http';

export interface LastAnswer {
  readonly status: number;
  /** Public `code` of the error body. */
  readonly code: string;
  readonly error: string;
  readonly details?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Ends a response after a failure. Sends this error while no byte has been sent, else destroys the connection.
 * Never throws, so the last catch of a handler may call it.
 */
export const answerAtLast = (res: ServerResponse, { status, code, error, details, headers = {} }: LastAnswer): void => {
  try {
    if (res.headersSent || res.destroyed) return void res.destroy();
    // The headers set for the failed answer may be the cause of the failure.
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    const body = JSON.stringify({ error, code, ...(details ? { details } : {}) });
    res.writeHead(status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    });
    res.end(res.req.method === 'HEAD' ? undefined : body);
  } catch {
    // No answer can reach this client, and the caller has logged the cause.
    res.destroy();
  }
};
