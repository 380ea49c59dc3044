import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { openEgressSocket, type EgressSocket } from './egress-socket.js';
import { createEgress, type Egress, type EgressOptions } from './guarded-dispatcher.js';
import { type OutgoingProxyOptions } from './outgoing-proxy.js';
import { proxyServerOf } from './proxy-connect.js';
import { startHttpProxy, type HttpProxy } from './testing/http-proxy.js';
import { HOOK_EXAMPLE } from './testing/self-signed.js';

/** docs/reference/component-model.md#egress-proxy */
let receiver: Server;
let port: number;
let hosts: (string | undefined)[];
let proxy: HttpProxy;
const closing: (() => Promise<unknown> | void)[] = [];

const onRequest = (incoming: IncomingMessage, response: { end(text: string): void }): void => {
  hosts.push(incoming.headers.host);
  response.end('here');
};

beforeEach(async () => {
  hosts = [];
  receiver = createServer(onRequest);
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  port = (receiver.address() as AddressInfo).port;
  closing.push(() => new Promise<void>((done) => receiver.close(() => done())));
  proxy = await started();
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const started = async (options: Parameters<typeof startHttpProxy>[0] = {}): Promise<HttpProxy> => {
  const one = await startHttpProxy(options);
  closing.push(() => one.close());
  return one;
};

const through = (more: Partial<OutgoingProxyOptions> = {}, options: Partial<EgressOptions> = {}): Egress => {
  const server = proxyServerOf(`http://127.0.0.1:${proxy.port}`)!;
  const egress = createEgress({
    allow: ['127.0.0.0/8'],
    resolver: async () => [{ address: '127.0.0.1', family: 4 }],
    ...options,
    proxy: { server, noProxy: [], resolvesNames: false, ...more },
  });
  closing.push(() => egress.close());
  return egress;
};

const get = async (egress: Egress, url: string): Promise<string> => {
  const { body } = await request(url, { dispatcher: egress.dispatcher });
  return body.text();
};

describe('a request through the outgoing proxy', () => {
  it('asks for the checked address and keeps the name in Host', async () => {
    expect(await get(through(), `http://hook.example:${port}/`)).toBe('here');
    expect(proxy.asked).toEqual([`127.0.0.1:${port}`]);
    expect(hosts).toEqual([`hook.example:${port}`]);
  });

  it('keeps the name in TLS, and checks the certificate for it', async () => {
    const { key, cert } = HOOK_EXAMPLE;
    const names: unknown[] = [];
    const secure = createTlsServer({ key, cert }, onRequest);
    secure.on('secureConnection', ({ servername }: { servername: unknown }) => names.push(servername));
    await new Promise<void>((done) => secure.listen(0, '127.0.0.1', done));
    closing.push(() => new Promise<void>((done) => secure.close(() => done())));
    const tlsPort = (secure.address() as AddressInfo).port;
    const egress = through({}, { ca: [cert] });
    expect(await get(egress, `https://hook.example:${tlsPort}/`)).toBe('here');
    expect(proxy.asked).toEqual([`127.0.0.1:${tlsPort}`]);
    expect(names).toEqual(['hook.example']);
    await expect(get(egress, `https://other.example:${tlsPort}/`)).rejects.toThrow(/altnames|does not match/i);
  });

  it('sends the credentials of the URL', async () => {
    const server = proxyServerOf(`http://us%40er:p%3Aw@127.0.0.1:${proxy.port}`)!;
    await get(through({ server }), `http://hook.example:${port}/`);
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from('us@er:p:w').toString('base64')}`]);
  });

  it.each([
    ['a name', 'hook.example'],
    ['a name above', 'example'],
    ['with a dot', '.example'],
    ['with a star', '*.example'],
    ['an address', '127.0.0.1'],
    ['a range', '127.0.0.0/8'],
    ['everything', '*'],
  ])('goes directly where NO_PROXY names the host by %s', async (_, entry) => {
    expect(await get(through({ noProxy: ['other.test', entry] }), `http://hook.example:${port}/`)).toBe('here');
    expect(proxy.asked).toEqual([]);
  });

  it.each([['ook.example'], ['hook.example:1'], ['10.0.0.0/8'], ['hook.example.org']])(
    'goes through the proxy where NO_PROXY has %s',
    async (entry) => {
      await get(through({ noProxy: [entry] }), `http://hook.example:${port}/`);
      expect(proxy.asked).toHaveLength(1);
    },
  );

  it.each([[[]], [['*']], [['hook.example', '127.0.0.0/8']]])(
    'is refused before the proxy hears of it, with NO_PROXY %j',
    async (noProxy) => {
      const egress = through({ noProxy }, { allow: [] });
      await expect(get(egress, `http://hook.example:${port}/`)).rejects.toThrow('an address that is not allowed');
      await expect(get(egress, `http://127.0.0.1:${port}/`)).rejects.toThrow('a loopback address');
      expect([proxy.asked, hosts]).toEqual([[], []]);
    },
  );

  it('refuses the own port of the proxy under any name and address, which the operator allows otherwise', async () => {
    for (const noProxy of [[], ['*']]) {
      const egress = through({ noProxy }, { allow: ['127.0.0.0/8', '0.0.0.0/8', '::/0'] });
      for (const host of ['hook.example', '127.0.0.1', '127.9.9.9', '0.0.0.0', '[::1]', '[::ffff:7f00:1]'])
        await expect(get(egress, `http://${host}:${proxy.port}/`)).rejects.toThrow('not allowed. Name the host');
    }
    expect(proxy.asked).toEqual([]);
  });

  it('knows the addresses of a proxy that is given by name', async () => {
    const server = proxyServerOf(`http://localhost:${proxy.port}`)!;
    const egress = through({ server });
    await expect(get(egress, `http://localhost:${proxy.port}/`)).rejects.toThrow('the outgoing proxy');
    await expect(get(egress, `http://hook.example:${proxy.port}/`)).rejects.toThrow('not allowed. Name the host');
    expect(await get(egress, `http://hook.example:${port}/`)).toBe('here');
  });

  it('tells what the proxy answered, and neither its address nor its credentials', async () => {
    const lines: [object, string][] = [];
    let status = 407;
    proxy = await started({ answer: () => status });
    const server = proxyServerOf(`http://user:secret@127.0.0.1:${proxy.port}`)!;
    const egress = through({ server, logger: { warn: (...line) => void lines.push(line) } });
    const failure = (): Promise<Error> =>
      get(egress, `http://hook.example:${port}/`).catch((error: Error) => error) as Promise<Error>;
    for (const _ of [1, 2])
      expect((await failure()).message).toBe(
        `could not connect to hook.example:${port} through the outgoing proxy of this server (PROXY_AUTHENTICATION)`,
      );
    status = 403;
    expect(await failure()).toMatchObject({ code: 'PROXY_STATUS_403' });
    status = 200;
    expect(await get(egress, `http://hook.example:${port}/`)).toBe('here');
    expect(lines.map(([, message]) => message)).toEqual(['egress.proxy_fails', 'egress.proxy_works_again']);
    expect(lines[0]![0]).toMatchObject({ proxy: `127.0.0.1:${proxy.port}`, code: 'PROXY_AUTHENTICATION' });
    expect(JSON.stringify(lines)).not.toMatch(/secret|Basic/);
    await proxy.close();
    expect((await failure()).message).toMatch(/\(PROXY_(UNREACHABLE|NO_ANSWER)\)$/);
  });
});

describe('a proxy that resolves names', () => {
  /** A name that the proxy resolves to this machine. */
  const resolving = async (options: Partial<EgressOptions> = {}): Promise<Egress> => {
    proxy = await started({ resolve: () => ({ host: '127.0.0.1', port }) });
    const resolver = (): Promise<never> => Promise.reject(new Error('looked up here'));
    return through({ resolvesNames: true, noProxy: ['inside.example'] }, { allow: [], resolver, ...options });
  };

  it('gets names, which are not looked up here', async () => {
    expect(await get(await resolving(), `http://hook.example:${port}/`)).toBe('here');
    expect(proxy.asked).toEqual([`hook.example:${port}`]);
  });

  it.each([
    '127.0.0.1',
    '2130706433',
    '10.0.0.1',
    '169.254.169.254',
    '[::1]',
    '[::ffff:7f00:1]',
    'localhost',
    'a.localhost',
  ])('gets no %s', async (host) => {
    await expect(get(await resolving(), `http://${host}:${port}/`)).rejects.toThrow('not allowed');
    expect(proxy.asked).toEqual([]);
  });

  it('gets no name that NO_PROXY has, which is resolved and checked here', async () => {
    const resolver = async (): Promise<{ address: string; family: number }[]> => [{ address: '127.0.0.1', family: 4 }];
    const egress = await resolving({ resolver });
    await expect(get(egress, `http://inside.example:${port}/`)).rejects.toThrow('not allowed');
    expect(proxy.asked).toEqual([]);
  });
});

describe('a component behind the outgoing proxy', () => {
  let folder: string;

  beforeEach(() => {
    folder = tempDir('proxy');
    closing.push(() => removeDir(folder));
  });

  const opened = async ({ policy, lookup, proxy: own }: Egress): Promise<EgressSocket> => {
    const socket = await openEgressSocket({ path: join(folder, 'egress'), policy, lookup, proxy: own });
    closing.push(() => socket.close());
    return socket;
  };

  const talk = (path: string, line: string, more = ''): Promise<string> =>
    new Promise((resolve, reject) => {
      let text = '';
      const socket = connect(path, () => socket.write(`${line}\n${more}`));
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });

  it('connects by the checked address', async () => {
    const { path } = await opened(through());
    const answer = await talk(
      path,
      `CONNECT hook.example ${port}`,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^OK\nHTTP\/1\.1 200 OK[^]*here/);
    expect(proxy.asked).toEqual([`127.0.0.1:${port}`]);
  });

  it('is refused private addresses and the proxy itself', async () => {
    const { path } = await opened(through());
    expect(await talk(path, `CONNECT 10.0.0.1 80`)).toMatch(/^ERR EGRESS_REFUSED/);
    expect(await talk(path, `CONNECT 127.0.0.1 ${proxy.port}`)).toMatch(/^ERR EGRESS_REFUSED/);
    expect(await talk(path, `CONNECT hook.example ${proxy.port}`)).toMatch(/^ERR EGRESS_REFUSED/);
    expect(proxy.asked).toEqual([]);
  });

  it('hears that the proxy refuses', async () => {
    proxy = await started({ answer: () => 503 });
    const { path } = await opened(through());
    expect(await talk(path, `CONNECT hook.example ${port}`)).toMatch(/^ERR PROXY_STATUS_503 could not connect to hook/);
  });
});
