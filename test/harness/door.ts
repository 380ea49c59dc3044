import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** An address of a server that stays when the server starts again on another port. */
export interface Door {
  readonly url: string;
  /** Lets no more bytes through on the connections that are there, which stay open. */
  silence(): void;
  close(): void;
}

/** @param url address of the server at present; throws while it is away. */
export const doorTo = async (url: () => string): Promise<Door> => {
  const silent: (() => void)[] = [];
  const door = createServer((socket) => {
    const ends = [socket];
    const close = (): void => ends.forEach((end) => end.destroy());
    socket.on('error', close).on('close', close);
    try {
      const inner = connect(Number(new URL(url()).port), '127.0.0.1');
      ends.push(inner);
      inner.on('error', close).on('close', close);
      socket.pipe(inner).pipe(socket);
      silent.push(() => inner.unpipe(socket).resume());
    } catch {
      // The server is away.
      close();
    }
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    url: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    silence: () => silent.splice(0).forEach((act) => act()),
    close: () => door.close(),
  };
};
