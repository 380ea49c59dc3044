import { type IncomingMessage, type ServerResponse } from 'node:http';

/** Server that components of the suite may reach. It answers with the request itself, except at a few paths. */
export const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { method, url = '/', headers } = request;
    const json = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (url.startsWith('/never')) return;
    if (url.startsWith('/missing')) return json(404, { reason: 'no such item' });
    if (url.startsWith('/file.txt')) {
      response.writeHead(200, { 'content-type': 'text/plain', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' });
      return void response.end('line one\nline two\n');
    }
    if (url.startsWith('/pages')) {
      const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? 0);
      return json(200, { items: [page * 2, page * 2 + 1], next: page < 2 ? page + 1 : null });
    }
    return json(200, { method, url, type: headers['content-type'] ?? null, body: Buffer.concat(parts).toString() });
  });
};
