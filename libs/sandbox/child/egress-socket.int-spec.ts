import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { detectIsolation } from '../jail/detect.js';
import { type Sandbox } from '../sandbox.js';
import { ComponentSandboxes } from '../testing/component-sandboxes.js';

const ANSWERS: Readonly<Record<string, unknown>> = {
  'ADDRESS raw.test': [
    { address: '93.184.216.34', family: 4 },
    { address: '2606:2800:220:1::1', family: 6 },
  ],
  'SRV _x._tcp.raw.test': [{ name: 'raw.test', port: 1, priority: 0, weight: 0 }],
  'PTR 34.216.184.93.in-addr.arpa': ['raw.test'],
};

/** Implements the guard's line protocol, and connects each name to a local server. */
const guard = (ports: () => Record<string, number>, asked: string[]): net.Server =>
  net.createServer((client) => {
    let head = '';
    const read = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      const end = head.indexOf('\n');
      if (end < 0) return;
      client.off('data', read);
      asked.push(head.slice(0, end));
      const [word, type, name] = head.slice(0, end).split(' ');
      if (word === 'LOOKUP') {
        const answer = ANSWERS[`${type ?? ''} ${name ?? ''}`];
        return void client.end(
          answer === undefined ? 'ERR ENOTFOUND no such name\n' : `OK ${JSON.stringify(answer)}\n`,
        );
      }
      const port = ports()[head.slice(0, end).split(' ')[1] ?? ''];
      if (port === undefined) return void client.end('ERR EHOSTUNREACH the address is not allowed\n');
      const server = net.connect(port, '127.0.0.1', () => {
        client.write('OK\n');
        server.write(Buffer.from(head.slice(end + 1), 'latin1'));
        client.pipe(server).pipe(client);
      });
      server.on('error', () => client.destroy());
      client.on('error', () => server.destroy());
    };
    client.on('data', read);
  });

const listen = (server: net.Server, at: number | string): Promise<void> =>
  new Promise((resolve) =>
    typeof at === 'string' ? server.listen(at, resolve) : server.listen(at, '127.0.0.1', resolve),
  );

describe('network of a jailed component', () => {
  let sandboxes: ComponentSandboxes;
  let sandbox: Sandbox;
  let certificate: string;
  const asked: string[] = [];
  const servers: net.Server[] = [];
  const open = new Set<Socket>();

  beforeAll(async () => {
    const level = await detectIsolation('auto');
    const socketOf = (): string => path.join(sandboxes.dir, 'egress.sock');
    sandboxes = await ComponentSandboxes.open(level, { egressSocket: () => Promise.resolve(socketOf()) });
    chmodSync(sandboxes.dir, 0o711);
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(sandboxes.dir, name)) as [string, string];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=secure.test',
        '-addext',
        'subjectAltName=DNS:secure.test',
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    );
    certificate = readFileSync(cert, 'utf8');
    const answer = (request: http.IncomingMessage, response: http.ServerResponse): void => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () =>
        response.end(JSON.stringify({ host: request.headers.host, method: request.method, url: request.url, body })),
      );
    };
    const plain = http.createServer(answer);
    const secure = https.createServer({ key: readFileSync(key), cert: certificate }, answer);
    const greeting = net.createServer((socket) => {
      socket.write('220 hello\r\n');
      socket.on('data', (data) => socket.write(data));
      socket.on('error', () => socket.destroy());
    });
    for (const server of [plain, secure, greeting]) await listen(server, 0);
    const port = (server: net.Server): number => (server.address() as AddressInfo).port;
    const proxy = guard(
      () => ({ 'plain.test': port(plain), 'secure.test': port(secure), 'raw.test': port(greeting) }),
      asked,
    );
    await listen(proxy, socketOf());
    chmodSync(socketOf(), 0o666);
    servers.push(plain, secure, greeting, proxy);
    for (const server of servers) server.on('connection', (socket) => open.add(socket));
    sandbox = await sandboxes.start(
      `import net from 'node:net'; import http from 'node:http'; import https from 'node:https'; import tls from 'node:tls'; import { createRequire } from 'node:module';
       const require = createRequire('/tmp/x.js');
       const AsyncFunction = (async () => {}).constructor;
       const read = (req) => new Promise((resolve, reject) => req.on('error', reject).on('response', (res) => { let text = ''; res.on('data', (d) => text += d).on('end', () => resolve(JSON.parse(text))) }));
       export default { name: 't', version: '1', async run({ code, ca }) {
         this.$emit(await new AsyncFunction('require', 'net', 'http', 'https', 'tls', 'read', 'ca', code)(require, net, http, https, tls, read, ca));
       } }`,
    );
  });

  afterAll(async () => {
    await sandboxes.close();
    for (const socket of open) socket.destroy();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  });

  const result = async (code: string): Promise<unknown> => {
    const event = JSON.stringify({ code, ca: certificate });
    const outcome = await sandbox.run({ invocationId: 'inv_1', event, timeoutMs: 10_000 });
    if (outcome.error) throw new Error(outcome.error.stack);
    return JSON.parse(outcome.emits[0]?.payload ?? 'null') as unknown;
  };

  it('carries HTTP, with the name unresolved', async () => {
    expect(
      await result(
        `const r = http.request('http://plain.test/a?b=1', { method: 'POST' }); r.end('body'); return read(r)`,
      ),
    ).toEqual({
      host: 'plain.test',
      method: 'POST',
      url: '/a?b=1',
      body: 'body',
    });
    expect(asked.at(-1)).toBe('CONNECT plain.test 80');
  });

  it('carries many concurrent fetches', async () => {
    expect(
      await result(
        `const all = await Promise.all([1, 2, 3, 4, 5].map((n) => fetch('http://plain.test:8080/' + n).then((r) => r.json()))); return all.map((r) => r.url)`,
      ),
    ).toEqual(['/1', '/2', '/3', '/4', '/5']);
    expect(asked.at(-1)).toBe('CONNECT plain.test 8080');
  });

  it('carries HTTPS, and checks the certificate', async () => {
    expect(await result(`return read(https.get({ host: 'secure.test', path: '/s', ca }))`)).toMatchObject({
      host: 'secure.test',
      url: '/s',
    });
    expect(
      await result(
        `const agent = new https.Agent({ keepAlive: true, ca }); const one = await read(https.get('https://secure.test/1', { agent })); const two = await read(https.get('https://secure.test/2', { agent })); agent.destroy(); return [one.url, two.url]`,
      ),
    ).toEqual(['/1', '/2']);
    expect(await result(`return read(https.get('https://secure.test/')).catch((e) => e.code)`)).toBe(
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    );
    expect(await result(`return fetch('https://secure.test/').catch((e) => e.cause.code)`)).toBe(
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    );
  });

  it('lets the process rest while an agent keeps a TLS connection', async () => {
    const found =
      await result(`const held = () => process.getActiveResourcesInfo().filter((kind) => kind === 'PipeWrap').length;
      const before = held();
      const agent = new https.Agent({ keepAlive: true, ca });
      await read(https.get('https://secure.test/1', { agent }));
      await new Promise((resolve) => setImmediate(resolve));
      const kept = Object.values(agent.freeSockets).flat().length, idle = held();
      const busy = read(https.get('https://secure.test/2', { agent }));
      const during = held();
      await busy;
      agent.destroy();
      return [kept, idle - before, during - before];`);
    expect(found).toEqual([1, 0, 1]);
  });

  it('carries raw TCP whose server speaks first, and TLS', async () => {
    expect(
      await result(
        `return new Promise((resolve, reject) => { let text = ''; const s = net.connect(25, 'raw.test', () => s.write('ping')); s.on('error', reject).on('data', (d) => { text += d; if (text.endsWith('ping')) { s.end(); resolve(text) } }) })`,
      ),
    ).toBe('220 hello\r\nping');
    expect(
      await result(
        `return new Promise((resolve, reject) => { const s = tls.connect(443, 'secure.test', { ca }, () => { resolve([s.authorized, s.getPeerCertificate().subject.CN]); s.end() }); s.on('error', reject) })`,
      ),
    ).toEqual([true, 'secure.test']);
  });

  it('turns a refusal by the guard into a socket error with code and host', async () => {
    for (const call of [
      `new Promise((resolve) => net.connect(80, '10.0.0.1').on('error', resolve))`,
      `read(http.get('http://10.0.0.1/')).catch((e) => e)`,
      `read(https.get('https://10.0.0.1:80/')).catch((e) => e)`,
      `fetch('http://10.0.0.1/').catch((e) => e.cause)`,
    ])
      expect(await result(`const e = await ${call}; return [e.code, e.message]`)).toEqual([
        'EHOSTUNREACH',
        'connect EHOSTUNREACH 10.0.0.1:80: the address is not allowed',
      ]);
  });

  // docs/reference/component-model.md#name-lookups
  it('looks names up through the guard, with every function of node:dns', async () => {
    const v4 = '93.184.216.34';
    const v6 = '2606:2800:220:1::1';
    const all = [
      { address: v4, family: 4 },
      { address: v6, family: 6 },
    ];
    expect(
      await result(
        `const dns = process.getBuiltinModule ? process.getBuiltinModule('dns') : require('dns'), { promisify } = require('util'), ask = dns.promises;
         const called = (name, ...args) => new Promise((resolve, reject) => dns[name](...args, (e, ...found) => e ? reject(e) : resolve(found)));
         const one = new dns.promises.Resolver();
         return [
           await ask.lookup('raw.test'), await ask.lookup('raw.test', { all: true }), await ask.lookup('raw.test', 6),
           await called('lookup', 'raw.test'), await called('lookup', 'raw.test', { all: true }), await promisify(dns.lookup)('raw.test'),
           await ask.resolve4('raw.test'), await ask.resolve('raw.test', 'AAAA'), await called('resolve', 'raw.test'),
           await ask.resolveSrv('_x._tcp.raw.test'), await ask.reverse('${v4}'), await one.resolve4('raw.test'),
         ]`,
      ),
    ).toEqual([
      ...[all[0], all, all[1]],
      ...[[v4, 4], [all], all[0]],
      ...[[v4], [v6], [[v4]]],
      ...[[{ name: 'raw.test', port: 1, priority: 0, weight: 0 }], ['raw.test'], [v4]],
    ]);
  });

  it('has 100 look-ups a run, and none of servers of its own', async () => {
    const failed = `const dns = require('dns').promises; const failed = (work) => work().then(() => 'ok', (e) => [e.code, e.message]);`;
    expect(
      await result(
        `${failed} const found = []; for (let n = 0; n < 101; n++) found.push(await failed(() => dns.lookup('raw.test'))); return [found[99], found[100]]`,
      ),
    ).toEqual(['ok', ['TOO_MANY_LOOKUPS', expect.stringContaining('one run may look up at most 100 names')]]);
    expect(
      await result(
        `${failed} return [await failed(() => dns.lookup('none.test')), await failed(async () => dns.setServers(['8.8.8.8'])),
           await failed(async () => new (require('dns').Resolver)().setServers(['8.8.8.8'])), await failed(() => dns.resolveAny('raw.test')), await failed(() => dns.lookup('a\\nCONNECT b 1'))]`,
      ),
    ).toEqual([
      ['ENOTFOUND', expect.stringMatching(/^getaddrinfo ENOTFOUND none.test/)],
      ['EACCES', expect.stringContaining('a component cannot choose its name servers')],
      ['EACCES', expect.stringContaining('a component cannot choose its name servers')],
      ['ENOTIMP', expect.stringContaining('resolveAny')],
      ['ENOTFOUND', expect.stringContaining('not a host name')],
    ]);
  });

  it('stands in for the bindings that packages read, and for no other', async () => {
    expect(
      await result(
        `const { fs, os } = process.binding('constants');
         const code = (name) => { try { return typeof process.binding(name); } catch (e) { return e.code; } };
         return [fs.O_RDONLY, os.signals.SIGTERM, process.binding('util').isDate(new Date()), process.binding('http_parser').methods.includes('GET'), 'fs' in process.binding('natives'), process.binding('uv').UV_EOF,
           ['fs', 'tcp_wrap', 'spawn_sync', 'process_wrap', 'contextify', '__proto__', 'none'].map(code)]`,
      ),
    ).toEqual([0, 15, true, true, true, -4095, Array.from({ length: 7 }, () => 'ERR_ACCESS_DENIED')]);
  });

  it('cannot reach a unix socket, nor smuggle a second line to the guard', async () => {
    expect(
      await result(`return new Promise((resolve) => net.connect('/egress.sock').on('error', (e) => resolve(e.code)))`),
    ).toBe('EACCES');
    expect(
      await result(
        `return new Promise((resolve) => net.connect(80, 'a\\nCONNECT b').on('error', (e) => resolve(e.code)))`,
      ),
    ).toBe('EACCES');
  });
});
