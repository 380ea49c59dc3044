import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { DOWN_FD, UP_FD } from '#libs/sandbox/protocol/protocol.js';

/** The least that a child can do with a frame: it writes the bytes back. It reads and writes as the sandbox child does. */
const down = new Socket({ fd: DOWN_FD, readable: true, writable: false });
down.on('data', (chunk) => {
  for (let at = 0; at < chunk.length;) at += writeSync(UP_FD, chunk, at);
});
down.on('end', () => process.exit(0));
