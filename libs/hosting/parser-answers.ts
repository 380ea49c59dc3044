import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type Duplex } from 'node:stream';
import { answerAtLast } from '#libs/http/last-answer.js';
import { type Connections } from './connections.js';

interface ParserAnswer {
  readonly status: number;
  readonly code: string;
  readonly error: string;
}

/** Node's limit on the request line and headers, in KB. */
const HEADER_KB = 16;

const NOT_HTTP: ParserAnswer = { status: 400, code: 'bad_request', error: 'the request is not valid HTTP/1.1' };

const ANSWERS: Readonly<Record<string, ParserAnswer>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'headers_too_large',
    error: `request line and headers are above the limit of ${HEADER_KB} KB`,
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: 'too_large',
    error: `the extensions of a chunk are above the limit of ${HEADER_KB} KB: leave them out`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    error: 'the request did not arrive in time: send it again, on a new connection',
  },
};

/** Answers input that never becomes a request with the error body of the API, because Node's own answers have none. */
export const answerForParser = (server: Server, connections: Pick<Connections, 'isHeldBack'>): void => {
  const answered = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (req: IncomingMessage, res: ServerResponse) => void answered.set(req.socket, res));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // Its next request waits for the server, which continues to read once an earlier one is answered.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connections.isHeldBack(socket)) return;
    const under = answered.get(socket);
    // The client would read further bytes as part of an answer that is being sent.
    const isBusy = under !== undefined && under.headersSent && !under.writableFinished;
    if (!socket.writable || isBusy || error.code === 'ECONNRESET') return void socket.destroy();
    socket.end(rawAnswer(ANSWERS[error.code ?? ''] ?? NOT_HTTP), () => void socket.destroy());
  });
  server.on('connect', (_req: IncomingMessage, socket: Duplex) => {
    const error = 'CONNECT is not supported: this server is not a proxy';
    socket.end(rawAnswer({ status: 405, code: 'method_not_allowed', error }), () => void socket.destroy());
  });
};

/** The one expectation that Node meets itself. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

/** Answers a request that expects what this server cannot do. Returns whether it was one. */
export const refusedExpectation = (req: IncomingMessage, res: ServerResponse): boolean => {
  const { expect } = req.headers;
  if (expect === undefined || req.httpVersion !== '1.1' || CONTINUE.test(expect)) return false;
  const error = `the expectation ${JSON.stringify(expect.slice(0, 100))} cannot be met: leave it out`;
  answerAtLast(res, { status: 417, code: 'expectation_failed', error });
  return true;
};

const rawAnswer = ({ status, code, error }: ParserAnswer): string => {
  const body = JSON.stringify({ error, code });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
};

/** Turns `GET http://host/path` into `GET /path` to that host, whatever its Host header says (RFC 9112, 3.2.2). */
export const toOriginForm = (req: IncomingMessage): void => {
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)(.*)$/is.exec(req.url ?? '');
  if (!absolute) return;
  const [, authority = '', rest = ''] = absolute;
  req.headers.host = authority.slice(authority.lastIndexOf('@') + 1);
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
};
