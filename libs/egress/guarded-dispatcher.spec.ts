import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { type LookupAddress } from 'node:dns';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { AddressPolicy } from './address-policy.js';
import { createEgress, type Egress, type EgressOptions } from './guarded-dispatcher.js';
import { guardedLookup, normalizeHost } from './guarded-lookup.js';

const loopback: LookupAddress = { address: '127.0.0.1', family: 4 };
const publicAddress: LookupAddress = { address: '203.0.114.7', family: 4 };

describe('normalizeHost', () => {
  it.each([
    ['0x7f.1', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['017700000001', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['１２７.0.0.1', '127.0.0.1'],
    ['%31%32%37.0.0.1', '127.0.0.1'],
    ['[::1]', '::1'],
    ['::ffff:7f00:1', '::ffff:7f00:1'],
    ['Example.COM.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['a/b', undefined],
    ['a:80', undefined],
    ['user@a', undefined],
    ['a?b', undefined],
    ['', undefined],
    ['1.2.3.4.5', undefined],
    ['a b', undefined],
  ])('reads %s as %s', (host, normal) => {
    if (normal === undefined) expect(() => normalizeHost(host)).toThrow('not a host name or IP address');
    else expect(normalizeHost(host)).toBe(normal);
  });
});

describe('guardedLookup', () => {
  it('refuses a host with one refused address among public ones', async () => {
    const lookup = guardedLookup(new AddressPolicy(), async () => [publicAddress, loopback]);
    await expect(lookup('mixed.example')).rejects.toThrow(
      'mixed.example: an address that is not allowed. The operator of this server can allow it with SLUICE_EGRESS_ALLOW',
    );
  });

  it('resolves once for concurrent callers, and again later', async () => {
    let asked = 0;
    const lookup = guardedLookup(new AddressPolicy(), async () => {
      asked++;
      return [publicAddress];
    });
    await Promise.all([lookup('a.example'), lookup('A.example.')]);
    expect(asked).toBe(1);
    await lookup('a.example');
    expect(asked).toBe(2);
  });

  it('passes on the error of the resolver', async () => {
    const error = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    await expect(guardedLookup(new AddressPolicy(), () => Promise.reject(error))('x.example')).rejects.toBe(error);
  });
});

describe('createEgress', () => {
  let server: Server;
  let port: number;
  let egress: Egress | undefined;
  let hits: string[];

  const make = (options: Partial<EgressOptions> = {}): Egress => (egress = createEgress({ allow: [], ...options }));
  const get = (host: string, dispatcher: Egress): Promise<string> =>
    request(`http://${host}:${port}/x`, { dispatcher: dispatcher.dispatcher }).then((r) => r.body.text());

  beforeEach(async () => {
    hits = [];
    server = createServer((req, res) => {
      hits.push(req.headers.host ?? '');
      if (req.url === '/away') res.writeHead(302, { location: '/x' }).end();
      else res.end('hello');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });

  afterEach(async () => {
    await egress?.close();
    egress = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it.each(['127.0.0.1', '0x7f.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]', 'localhost', '0.0.0.0'])(
    'refuses %s before any connection',
    async (host) => {
      await expect(get(host, make())).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
      expect(hits).toEqual([]);
    },
  );

  it('connects to the address that was checked, with the name in the request', async () => {
    const answers: LookupAddress[][] = [[loopback], [publicAddress]];
    const resolver = async (): Promise<LookupAddress[]> => answers.shift() ?? [];
    await expect(get('named.example', make({ allow: ['127.0.0.0/8'], resolver }))).resolves.toBe('hello');
    expect(hits).toEqual([`named.example:${port}`]);
    expect(answers).toHaveLength(1);
  });

  it('does not follow a name that changes to a private address', async () => {
    const answers: LookupAddress[][] = [[loopback], [{ address: '10.0.0.1', family: 4 }]];
    const resolver = async (): Promise<LookupAddress[]> => answers.shift() ?? [];
    const guarded = make({ allow: ['127.0.0.0/8'], resolver });
    await get('rebind.example', guarded);
    server.closeAllConnections();
    await expect(get('rebind.example', guarded)).rejects.toMatchObject({ code: 'EGRESS_REFUSED', address: '10.0.0.1' });
  });

  it.each([[[loopback]], [[loopback, { address: '127.0.0.2', family: 4 }]]])(
    'names the host that refused the connection, not its addresses %j',
    async (addresses) => {
      await new Promise((resolve) => server.close(resolve));
      const inner = make({ allow: ['127.0.0.0/8'], resolver: async () => addresses });
      const failed: unknown = await get('inner.example', inner).catch((error: unknown) => error);
      expect(failed).toMatchObject({
        code: 'ECONNREFUSED',
        message: `could not connect to inner.example:${port} (ECONNREFUSED)`,
      });
      server.listen(port, '127.0.0.1');
    },
  );

  it('follows no redirect', async () => {
    const { dispatcher } = make({ allow: ['127.0.0.0/8'] });
    const response = await request(`http://127.0.0.1:${port}/away`, { dispatcher });
    await response.body.dump();
    expect(response.statusCode).toBe(302);
    expect(hits).toHaveLength(1);
  });

  it('rejects with the error of the resolver', async () => {
    const resolver = (): Promise<never> => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOTFOUND' }));
    await expect(get('gone.example', make({ resolver }))).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('uses the name in TLS, at the checked address', async () => {
    let hello = '';
    const tls = createTcpServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', (chunk) => {
        hello = chunk.toString('latin1');
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    const { dispatcher } = make({ allow: ['127.0.0.1'], resolver: async () => [loopback] });
    const url = `https://named.example:${(tls.address() as AddressInfo).port}/`;
    await expect(request(url, { dispatcher })).rejects.toThrow();
    await new Promise((resolve) => tls.close(resolve));
    expect(hello).toContain('named.example');
  });
});
