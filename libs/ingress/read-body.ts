import { type IncomingMessage } from 'node:http';

/** Reads the whole body. Above `limit` it resolves with the size: as declared, or as far as it was read. */
export const readBody = (req: IncomingMessage, limit: number): Promise<{ bytes: Buffer } | { tooLarge: number }> =>
  new Promise((resolve, reject) => {
    const declared = Number(req.headers['content-length'] ?? 0);
    if (declared > limit) {
      req.resume();
      return resolve({ tooLarge: declared });
    }
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else resolve({ tooLarge: size });
    });
    req.on('end', () => resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) }));
    req.on('error', reject);
    req.on('aborted', () => reject(new Error('the client went away while sending its body')));
  });
