import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Bytes that are sent as they are, in a packet of their own. The texts `end` and `reset` close the connection. */
export type Piece = string | Buffer;

export interface RawReceiver {
  readonly url: string;
  /** Requests that arrived in full. */
  requests(): number;
  /** Connections that were made. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts a receiver on loopback that answers each request with these bytes, whatever they are. */
export const startRawReceiver = async (pieces: readonly Piece[]): Promise<RawReceiver> => {
  const open = new Set<Socket>();
  let requests = 0;
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    open.add(socket);
    let read = '';
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
    socket.on('data', (chunk) => {
      read += chunk.toString('latin1');
      const end = read.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(read)?.[1] ?? 0);
      if (end < 0 || read.length < end + 4 + length) return;
      read = '';
      requests++;
      void answer(socket, pieces);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests: () => requests,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
};

const answer = async (socket: Socket, pieces: readonly Piece[]): Promise<void> => {
  socket.setNoDelay(true);
  for (const piece of pieces) {
    if (socket.destroyed) return;
    if (piece === 'end') socket.end();
    else if (piece === 'reset') socket.resetAndDestroy();
    else socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
    await pause(5);
  }
};
