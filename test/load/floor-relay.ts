import { once } from 'node:events';
import { open, type FileHandle } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Pool } from 'undici';
import { servePart } from './part-process.js';

/**
 * The floor: the least work of a relay that loses nothing. It appends an event to a file, syncs it together with all
 * others that arrived in the meantime (one write, one fdatasync), answers, and forwards. It has no user code, routing,
 * signature or record of the attempt.
 */
const MOST_AT_ONCE = 256;
const MOST_UNFORWARDED = 1_024;
const ANSWER = '{"success":true}';

interface Pending {
  readonly body: Buffer;
  readonly response: ServerResponse;
}

const [sinkUrl = '', dir = ''] = process.argv.slice(2);
const sink = new Pool(new URL(sinkUrl).origin, { connections: 32 });
const log: FileHandle = await open(join(dir, 'floor.log'), 'a');
const queue: Pending[] = [];
let writing = false;
let unforwarded = 0;

const frame = (body: Buffer): Buffer => {
  const head = Buffer.allocUnsafe(4);
  head.writeUInt32LE(body.length);
  return head;
};

const forward = async (body: Buffer): Promise<void> => {
  const reply = await sink.request({
    path: '/',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  await reply.body.dump();
  unforwarded--;
  if (reply.statusCode !== 200) throw new Error(`the sink answered ${reply.statusCode}`);
  void commit();
};

/** Group commit: events that arrive during a fdatasync go into the next one. Accepts no more than it can forward. */
const commit = async (): Promise<void> => {
  if (writing) return;
  writing = true;
  while (queue.length > 0 && unforwarded < MOST_UNFORWARDED) {
    const group = queue.splice(0, MOST_AT_ONCE);
    await log.writev(group.flatMap(({ body }) => [frame(body), body]));
    await log.datasync();
    for (const { body, response } of group) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length }).end(ANSWER);
      unforwarded++;
      void forward(body);
    }
  }
  writing = false;
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    queue.push({ body: Buffer.concat(chunks), response });
    void commit();
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
servePart({}, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
