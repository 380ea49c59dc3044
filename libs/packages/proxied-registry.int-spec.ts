import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startHttpProxy } from '#libs/egress/testing/http-proxy.js';
import { detectIsolation, type JailLevel } from '#libs/sandbox/index.js';
import { NpmRegistry } from '#test/harness/npm-registry.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { PackageStore } from './package-store.js';

let level: JailLevel;
let registry: NpmRegistry;

beforeAll(async () => {
  level = await detectIsolation('auto');
  registry = await NpmRegistry.start();
}, 60_000);
afterAll(() => registry.close());

/** Installs the package `proxied` in a new store. */
const installThrough = async (port: number, noProxy: readonly string[]): Promise<void> => {
  const folder = tempDir('packages');
  const store = new PackageStore({
    folder,
    level,
    registries: [{ scope: null, url: registry.url, token: null, tarballHosts: [] }],
    proxy: { url: `http://127.0.0.1:${port}`, noProxy, resolvesNames: false },
  });
  try {
    await store.install({ specifiers: ['proxied'], workspaceId: 'o_one' });
  } finally {
    await store.close();
    removeDir(folder);
  }
};

// docs/reference/component-model.md#egress-proxy
describe('an installation beside an outgoing proxy', () => {
  it('asks the registry through it, or directly where NO_PROXY names it', async () => {
    await registry.publish('proxied', '1.0.0');
    const proxy = await startHttpProxy();
    try {
      await installThrough(proxy.port, ['127.0.0.1']);
      expect(proxy.asked).toEqual([]);
      await installThrough(proxy.port, []);
      expect(new Set(proxy.asked)).toEqual(new Set([new URL(registry.url).host]));
    } finally {
      await proxy.close();
    }
  }, 60_000);
});
