import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Request, type Response } from 'express';

/** A large answer that is the same for every client, encoded and compressed once. */
export interface FixedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly plain: Buffer;
  readonly packed: Buffer;
  readonly etag: string;
}

export const fixedAnswer = async (text: string, headers: Readonly<Record<string, string>>): Promise<FixedAnswer> => {
  const plain = Buffer.from(text);
  const packed = await promisify(gzip)(plain, { level: 9 });
  return { headers, plain, packed, etag: hash('sha256', plain, 'base64url').slice(0, 27) };
};

/** Sends the form that the client accepts, or 304 to a client that has it. */
export const sendFixed = (answer: FixedAnswer, request: Request, response: Response): void => {
  const isPacked = request.acceptsEncodings(['gzip', 'identity']) === 'gzip';
  // Each form has a tag of its own (RFC 9110, 8.8.3).
  const etag = `"${answer.etag}${isPacked ? '-gzip' : ''}"`;
  response.setHeaders(new Map(Object.entries({ ...answer.headers, etag, vary: 'Accept-Encoding' })));
  response.setHeader('Cache-Control', 'no-cache');
  if (request.headers['if-none-match'] === etag) return void response.status(304).end();
  if (isPacked) response.setHeader('Content-Encoding', 'gzip');
  const body = isPacked ? answer.packed : answer.plain;
  response.setHeader('Content-Length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
};
