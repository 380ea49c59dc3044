import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chmodSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { tryLevel } from '../jail/detect.js';
import { type Sandbox } from '../sandbox.js';
import { ComponentSandboxes } from '../testing/component-sandboxes.js';

/** Every level of isolation. A level that this machine lacks is skipped with the reason. */
const LEVELS = await Promise.all(
  (['jail (bwrap)', 'jail (unshare)', 'process'] as const).map(async (name) => [name, await tryLevel(name)] as const),
);

describe.each(LEVELS)('axios in a component at the level %s', (_name, level) => {
  if (typeof level === 'string') {
    it.skip(level, () => undefined);
    return;
  }
  let sandboxes: ComponentSandboxes;
  let sandbox: Sandbox;
  const asked: string[] = [];
  const servers: net.Server[] = [];

  beforeAll(async () => {
    const target = http.createServer((request, response) => {
      response.writeHead(request.url === '/missing' ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ host: request.headers.host, url: request.url }));
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    // The guard's side of the line protocol: only plain.test may be reached.
    const guard = net.createServer((client) => {
      client.on('error', () => client.destroy());
      client.once('data', (line) => {
        const [, host] = String(line).trim().split(' ');
        asked.push(String(line).trim());
        if (host !== 'plain.test') return void client.end('ERR EHOSTUNREACH the address is not allowed\n');
        const to = net.connect((target.address() as AddressInfo).port, '127.0.0.1', () => {
          client.write('OK\n');
          client.pipe(to).pipe(client);
        });
        to.on('error', () => client.destroy());
      });
    });
    const socket = (): string => path.join(sandboxes.dir, 'egress.sock');
    sandboxes = await ComponentSandboxes.open(level, { egressSocket: () => Promise.resolve(socket()) });
    chmodSync(sandboxes.dir, 0o711);
    await new Promise<void>((resolve) => guard.listen(socket(), resolve));
    chmodSync(socket(), 0o666);
    servers.push(target, guard);
    sandbox = await sandboxes.start(
      `import { axios } from '@pipedream/platform';
       export default { name: 't', version: '1', async run({ config, env }) {
         Object.assign(process.env, env);
         this.$emit(await axios(this, config).catch((e) => ({ code: e.code, message: e.message, status: e.response?.status, own: axios.isAxiosError(e) })));
       } }`,
    );
  }, 60_000);

  afterAll(async () => {
    await sandboxes.close();
    (servers[0] as http.Server).closeAllConnections();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  });

  const sent = async (config: object, env: object = {}): Promise<unknown> => {
    const outcome = await sandbox.run({
      invocationId: 'inv_1',
      event: JSON.stringify({ config, env }),
      timeoutMs: 10_000,
    });
    if (outcome.error) throw new Error(outcome.error.stack);
    return JSON.parse(outcome.emits[0]?.payload ?? 'null') as unknown;
  };

  it('sends requests through the egress guard, with the name unresolved', async () => {
    expect(await sent({ url: 'http://plain.test/a', params: { b: 1 } })).toEqual({ host: 'plain.test', url: '/a?b=1' });
    expect(asked.at(-1)).toBe('CONNECT plain.test 80');
    expect(await sent({ url: 'http://plain.test/missing' })).toMatchObject({ status: 404, own: true });
  });

  it('gets the refusal of the guard as an error', async () => {
    expect(await sent({ url: 'http://10.0.0.1/' })).toMatchObject({ code: 'EHOSTUNREACH', own: true });
    expect(asked.at(-1)).toBe('CONNECT 10.0.0.1 80');
  });

  it('reaches no unix socket', async () => {
    expect(await sent({ url: 'http://plain.test/', socketPath: '/egress.sock' })).toMatchObject({ own: true });
    expect(await sent({ url: 'http://plain.test/', socketPath: '/egress.sock' })).not.toHaveProperty('url');
  });

  it('asks the guard for the target, not for a proxy that the environment names', async () => {
    const env = { http_proxy: 'http://10.0.0.9:3128', HTTP_PROXY: 'http://10.0.0.9:3128' };
    expect(await sent({ url: 'http://plain.test/proxied' }, env)).toMatchObject({ url: '/proxied' });
    expect(asked.some((line) => line.includes('10.0.0.9'))).toBe(false);
  });
});
