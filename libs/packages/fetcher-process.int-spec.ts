import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NpmRegistry } from '#test/harness/npm-registry.js';
import { FetcherProcess } from './fetcher-process.js';

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
