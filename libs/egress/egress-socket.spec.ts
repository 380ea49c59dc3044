import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AddressPolicy } from './address-policy.js';
import {
  openEgressSocket,
  type EgressConnection,
  type EgressSocket,
  type EgressSocketOptions,
} from './egress-socket.js';
import { guardedLookup } from './guarded-lookup.js';

describe('openEgressSocket', () => {
  let folder: string;
  let upstream: Server;
  let port: number;
  let onUpstream: (socket: Socket) => void;
  let egress: EgressSocket | undefined;
  let ended: EgressConnection[];
  let clients: Socket[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'egress-'));
    ended = [];
    clients = [];
    onUpstream = (socket) => socket.pipe(socket);
    upstream = createServer({ allowHalfOpen: true }, (socket) => {
      clients.push(socket);
      socket.on('error', () => socket.destroy());
      onUpstream(socket);
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    port = (upstream.address() as AddressInfo).port;
  });

  afterEach(async () => {
    await egress?.close();
    egress = undefined;
    for (const client of clients) client.destroy();
    await new Promise((resolve) => upstream.close(resolve));
    await rm(folder, { recursive: true });
  });

  const open = async (more: Partial<EgressSocketOptions> = {}): Promise<EgressSocket> => {
    const policy = new AddressPolicy(['127.0.0.1']);
    const onConnection = (connection: EgressConnection): number => ended.push(connection);
    egress = await openEgressSocket({ path: join(folder, 'jail', 'egress.sock'), policy, onConnection, ...more });
    return egress;
  };

  const dial = (): Socket => {
    const socket = connect({ path: egress!.path, allowHalfOpen: true });
    socket.on('error', () => socket.destroy());
    clients.push(socket);
    return socket;
  };

  /** Reads until the other side ends or closes the connection. */
  const textOf = (socket: Socket): Promise<string> =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const done = (): void => resolve(Buffer.concat(chunks).toString());
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('end', done);
      socket.on('close', done);
    });

  const say = (text: string): Promise<string> => {
    const socket = dial();
    socket.write(text);
    return textOf(socket);
  };

  it('connects, forwards early and later bytes, and half-closes', async () => {
    await open();
    const socket = dial();
    socket.end(`CONNECT 127.0.0.1 ${port}\nearly and more`);
    expect(await textOf(socket)).toBe('OK\nearly and more');
    expect(ended).toEqual([
      expect.objectContaining({ host: '127.0.0.1', port, address: '127.0.0.1', sent: 14, received: 14, error: null }),
    ]);
    expect(egress!.connections()).toBe(0);
  });

  it('forwards bytes that the client sends after the server has ended its side', async () => {
    const got = new Promise<string>((resolve) => {
      onUpstream = (socket) => {
        socket.end('bye');
        resolve(textOf(socket));
      };
    });
    await open();
    const socket = dial();
    socket.write(`CONNECT 127.0.0.1 ${port}\n`);
    expect(await textOf(socket)).toBe('OK\nbye');
    socket.end('x'.repeat(1_000_000));
    expect(await got).toHaveLength(1_000_000);
  });

  it('carries large data both ways with a slow reader', async () => {
    await open();
    const socket = dial();
    const body = 'y'.repeat(4 * 1024 * 1024);
    socket.end(`CONNECT 127.0.0.1 ${port}\n${body}`);
    expect((await textOf(socket)).length).toBe(body.length + 3);
  });

  it.each([
    ['HELLO\n', 'BAD_REQUEST expected "CONNECT <host> <port>"'],
    ['CONNECT  80\n', 'BAD_REQUEST expected "CONNECT <host> <port>"'],
    ['CONNECT a 0\n', 'BAD_REQUEST port 0 is not between 1 and 65535'],
    ['CONNECT a 65536\n', 'BAD_REQUEST port 65536 is not between 1 and 65535'],
    [
      'CONNECT 10.0.0.1 80\n',
      'EGRESS_REFUSED refused to connect to 10.0.0.1: an address that is not allowed, because it is a private address. The operator of this server can allow it with SLUICE_EGRESS_ALLOW=10.0.0.1/32',
    ],
    [
      'CONNECT 0x7f.0.0.2 80\n',
      'EGRESS_REFUSED refused to connect to 0x7f.0.0.2: an address that is not allowed, because it is a loopback address. The operator of this server can allow it with SLUICE_EGRESS_ALLOW=127.0.0.2/32',
    ],
    [
      'CONNECT ::ffff:169.254.169.254 80\n',
      'EGRESS_REFUSED refused to connect to ::ffff:169.254.169.254: an address that is not allowed, because it is a cloud metadata address. The operator of this server can allow it with SLUICE_EGRESS_ALLOW=169.254.169.254/32',
    ],
    [
      'CONNECT 127.0.0.1 25\n',
      'EGRESS_REFUSED refused to connect to 127.0.0.1: port 25 is for mail servers. Mail is sent through a provider with an HTTP API',
    ],
    [`CONNECT ${'a'.repeat(1100)}`, 'BAD_REQUEST request line is longer than 1024 bytes'],
  ])('answers %j with the reason', async (request, answer) => {
    await open();
    expect(await say(request)).toBe(`ERR ${answer}\n`);
  });

  it('answers with the code of the system when the connection fails', async () => {
    await open();
    const spare = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => spare.once('listening', resolve));
    const closedPort = (spare.address() as AddressInfo).port;
    await new Promise((resolve) => spare.close(resolve));
    expect(await say(`CONNECT 127.0.0.1 ${closedPort}\n`)).toMatch(/^ERR ECONNREFUSED /);
    expect(ended).toEqual([expect.objectContaining({ address: undefined, error: 'ECONNREFUSED' })]);
  });

  it('names the host that failed, not its address', async () => {
    const policy = new AddressPolicy(['127.0.0.1']);
    await open({ policy, lookup: guardedLookup(policy, async () => [{ address: '127.0.0.1', family: 4 }]) });
    const spare = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => spare.once('listening', resolve));
    const closedPort = (spare.address() as AddressInfo).port;
    await new Promise((resolve) => spare.close(resolve));
    // Control: Node's own message.
    const bare = await new Promise<Error>((resolve) => connect(closedPort, '127.0.0.1').on('error', resolve));
    expect(bare.message).toContain('127.0.0.1');
    expect(await say(`CONNECT inner.example ${closedPort}\n`)).toBe(
      `ERR ECONNREFUSED could not connect to inner.example:${closedPort} (ECONNREFUSED)\n`,
    );
  });

  it('resolves once and tries the checked addresses in turn', async () => {
    let asked = 0;
    const policy = new AddressPolicy(['127.0.0.1', '127.0.0.9']);
    const lookup = guardedLookup(policy, async () => {
      asked++;
      return [
        { address: '127.0.0.9', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ];
    });
    await open({ policy, lookup });
    const socket = dial();
    socket.end(`CONNECT two.example ${port}\nhi`);
    expect(await textOf(socket)).toBe('OK\nhi');
    expect(asked).toBe(1);
    expect(ended[0]).toMatchObject({ host: 'two.example', address: '127.0.0.1' });
  });

  it('ends a connection without a request line, and one that is idle', async () => {
    await open({ limits: { requestMs: 20, idleMs: 20 } });
    expect(await say('CONN')).toBe('ERR BAD_REQUEST no request line within 20 ms\n');
    const idle = dial();
    idle.write(`CONNECT 127.0.0.1 ${port}\n`);
    expect(await textOf(idle)).toBe('OK\n');
    expect(ended).toEqual([expect.objectContaining({ error: 'IDLE_TIMEOUT' })]);
  });

  it('ends a connection at the limit of bytes', async () => {
    await open({ limits: { maxBytes: 1000 } });
    const socket = dial();
    socket.write(`CONNECT 127.0.0.1 ${port}\n${'z'.repeat(600)}`);
    await textOf(socket);
    expect(ended).toEqual([expect.objectContaining({ error: 'BYTE_LIMIT', sent: 600 })]);
  });

  it('names the lookup that took too long, whatever becomes of it later', async () => {
    let fail: (error: Error) => void = () => undefined;
    const lookup = (): Promise<never> => new Promise((_, reject) => (fail = reject));
    await open({ lookup, limits: { connectMs: 10 } });
    expect(await say('CONNECT slow.example 80\n')).toBe('ERR TIMEOUT lookup of slow.example took too long\n');
    fail(new Error('no such host'));
    expect(ended).toEqual([expect.objectContaining({ host: 'slow.example', error: 'TIMEOUT' })]);
  });

  const REFUSED = 'ERR TOO_MANY_CONNECTIONS limit of 1 open connections reached, close some\n';

  it('lets a connection over the limit wait for the end of another, and refuses it when that takes long', async () => {
    await open({ limits: { maxConnections: 1, waitMs: 200 } });
    const first = dial();
    first.write(`CONNECT 127.0.0.1 ${port}\n`);
    await new Promise((resolve) => first.once('data', resolve));
    expect(await say('')).toBe(REFUSED);
    const second = dial();
    second.end(`CONNECT 127.0.0.1 ${port}\nok`);
    first.end();
    await textOf(first);
    expect(await textOf(second)).toBe('OK\nok');
  });

  it('refuses at once what is more than may wait, and ends what waits on close', async () => {
    const socket = await open({ limits: { maxConnections: 1, waitMs: 60_000 } });
    const first = dial();
    first.write(`CONNECT 127.0.0.1 ${port}\n`);
    await new Promise((resolve) => first.once('data', resolve));
    const second = dial();
    const text = textOf(second);
    second.end(`CONNECT 127.0.0.1 ${port}\n`);
    expect(await say('')).toBe(REFUSED);
    await socket.close();
    expect(await text).toBe('');
  });

  it('is open to other users behind a directory that they may only traverse', async () => {
    const { path } = await open();
    expect((await stat(path)).mode & 0o777).toBe(0o666);
    expect((await stat(join(path, '..'))).mode & 0o777 & ~0o022).toBe(0o711);
  });

  it('ends everything on close and leaves no file', async () => {
    const { path, close } = await open();
    const socket = dial();
    socket.write(`CONNECT 127.0.0.1 ${port}\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    const gone = textOf(socket);
    await close();
    await close();
    await gone;
    await expect(stat(path)).rejects.toThrow('ENOENT');
    expect(ended).toEqual([expect.objectContaining({ error: 'CLOSED' })]);
  });

  it('replaces only the socket that a crash left, and names a path that is too long', async () => {
    const path = join(folder, 's.sock');
    await writeFile(path, 'mine');
    await expect(open({ path })).rejects.toThrow('is taken by something that is not a socket');
    await rm(path);
    const { close } = await open({ path });
    await expect(open({ path: join(folder, 'x'.repeat(120)) })).rejects.toThrow('at most 107');
    await close();
  });
});
