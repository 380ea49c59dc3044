import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { connectMongo } from './connect.js';

const failure = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'connected',
    (error: unknown) => String(error),
  );

const listening = async (): Promise<{ readonly server: Server; readonly port: number; close(): Promise<void> }> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => sockets.delete(socket)))).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { server, port: (server.address() as AddressInfo).port, close };
};

describe('a MongoDB that cannot be used', () => {
  it('is named by its host, not by the password', async () => {
    const { port, close } = await listening();
    await close();
    const text = await failure(connectMongo(`mongodb://user:s3cr%40t@127.0.0.1:${port}/`));
    expect(text).toContain(`MongoDB at 127.0.0.1:${port} cannot be reached`);
    expect(text).not.toMatch(/s3cr/);
  });

  it('is given up when it accepts connections and does not answer', async () => {
    const { port, close } = await listening();
    try {
      expect(await failure(connectMongo(`mongodb://127.0.0.1:${port}/`))).toMatch(
        /cannot be reached: no answer within/,
      );
    } finally {
      await close();
    }
  });

  it('with an invalid URL is refused without showing it', async () => {
    const text = await failure(connectMongo('mongodb://user:s3cret@/?replicaSet'));
    expect(text).toContain('SLUICE_MONGO_URL is refused by the driver of MongoDB');
    expect(text).not.toContain('s3cret');
  });
});

describe('the database', () => {
  const url = (): string => {
    const given = process.env['SLUICE_TEST_MONGO'];
    if (given === undefined) throw new Error('SLUICE_TEST_MONGO is not set: run npm run test:engines');
    return given;
  };

  it.each([
    ['', undefined, 'sluice'],
    ['from_url?appName=x', undefined, 'from_url'],
    ['from_url', 'told', 'told'],
  ])('of a URL that ends with "/%s", told %s, is %s', async (path, told, expected) => {
    const connection = await connectMongo(`${url()}${path}`, told);
    try {
      expect(connection.db.databaseName).toBe(expected);
      await connection.ping();
    } finally {
      await connection.close();
    }
  });
});
