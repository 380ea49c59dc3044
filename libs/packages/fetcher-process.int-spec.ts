import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import https from 'node:https';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NpmRegistry } from '#test/harness/npm-registry.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { FetcherProcess } from './fetcher-process.js';

const INSTALLING = fileURLToPath(new URL('../../dist/libs/packages/testing/installing-process.js', import.meta.url));

let registry: NpmRegistry;
let fetcher: FetcherProcess;

beforeAll(async () => {
  registry = await NpmRegistry.start();
  fetcher = new FetcherProcess([{ scope: null, url: registry.url, token: null, tarballHosts: [] }]);
});

afterAll(async () => {
  await fetcher.close();
  await registry.close();
});

describe('the fetcher', () => {
  it('resolves ranges, with what packages need, and downloads their tarballs', async () => {
    await registry.publish('leaf', '1.0.0');
    await registry.publish('leaf', '1.1.0');
    await registry.publish('trunk', '2.0.0', undefined, { dependencies: { leaf: '~1.0.0' } });
    const { packages } = await fetcher.resolve(
      {
        roots: [{ alias: 'trunk', name: 'trunk', range: '' }],
        minAgeMs: 0,
        deny: [],
        closedScopes: [],
        maxPackages: 10,
      },
      AbortSignal.timeout(20_000),
    );
    expect(packages).toMatchObject([
      { place: 'node_modules/leaf', name: 'leaf', version: '1.0.0', resolved: `${registry.url}/leaf/-/leaf-1.0.0.tgz` },
      { place: 'node_modules/trunk', name: 'trunk', version: '2.0.0' },
    ]);
  });
});

describe('a folder for temporary files that only the server may enter', () => {
  it('does not keep the fetcher from its code', async () => {
    const closed = tempDir('closed');
    chmodSync(closed, 0o700);
    try {
      await registry.publish('lonely', '1.0.0', { 'index.js': 'alone' });
      // A process of its own, because Jest gives tests a copy of the environment.
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [INSTALLING, path.join(closed, 'cache'), registry.url, 'lonely'],
        { env: { PATH: process.env.PATH, TMPDIR: closed }, timeout: 60_000 },
      );
      expect(stdout).toBe('began\n{"lonely":"alone"}\n');
    } finally {
      removeDir(closed);
    }
  }, 90_000);
});

describe('a registry with a certificate of its own authority', () => {
  let folder: string;
  let secure: https.Server;
  let url: string;
  const before = process.env.NODE_EXTRA_CA_CERTS;

  beforeAll(async () => {
    folder = tempDir('registry-certificate');
    const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const dist = { tarball: 'https://127.0.0.1/far/-/far-1.0.0.tgz', integrity: `sha512-${'A'.repeat(86)}==` };
    const far = {
      name: 'far',
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { name: 'far', version: '1.0.0', dist } },
    };
    const options = { key: readFileSync(key), cert: readFileSync(cert) };
    secure = https.createServer(options, (_request, response) => response.end(JSON.stringify(far)));
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
  });

  afterAll(async () => {
    if (before === undefined) delete process.env.NODE_EXTRA_CA_CERTS;
    else process.env.NODE_EXTRA_CA_CERTS = before;
    await new Promise((resolve) => secure.close(resolve));
    removeDir(folder);
  });

  const resolveFar = async (): Promise<unknown> => {
    const apart = new FetcherProcess([{ scope: null, url, token: null, tarballHosts: ['127.0.0.1'] }]);
    const roots = [{ alias: 'far', name: 'far', range: '' }];
    const order = { roots, minAgeMs: 0, deny: [], closedScopes: [], maxPackages: 10 };
    const resolved = await apart.resolve(order, AbortSignal.timeout(20_000)).catch((error: unknown) => error);
    await apart.close();
    return resolved;
  };

  it('is reached when NODE_EXTRA_CA_CERTS names the authority, and not otherwise', async () => {
    delete process.env.NODE_EXTRA_CA_CERTS;
    expect(await resolveFar()).toMatchObject({ message: expect.stringContaining('SELF_SIGNED_CERT') });
    process.env.NODE_EXTRA_CA_CERTS = path.join(folder, 'cert.pem');
    expect(await resolveFar()).toMatchObject({ packages: [{ name: 'far', version: '1.0.0' }] });
  }, 60_000);
});
