import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { NpmRegistry, tarballOf } from '#test/harness/npm-registry.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { type InstalledPackages, detectIsolation, type JailLevel } from '#libs/sandbox/index.js';
import { PackageStore, type InstallFacts, type PackageStoreOptions } from './package-store.js';

const HOUR = 3_600_000;
const ago = (hours: number): Date => new Date(Date.now() - hours * HOUR);

let level: JailLevel;
let registry: NpmRegistry;
let folder: string;
let facts: InstallFacts[];
const open: PackageStore[] = [];

const storeWith = (options: Partial<PackageStoreOptions> = {}): PackageStore => {
  const store = new PackageStore({
    folder,
    level,
    registries: [{ scope: null, url: registry.url, token: null, tarballHosts: [] }],
    onInstall: (one) => facts.push(one),
    ...options,
  });
  open.push(store);
  return store;
};

const versions = ({ lock }: InstalledPackages): readonly string[] =>
  lock.packages.map(({ name, version }) => `${name}@${version}`);
const text = (installed: InstalledPackages, specifier: string, file = 'index.js'): string =>
  readFileSync(path.join(installed.folder, installed.lock.specifiers[specifier] ?? '', file), 'utf8');
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const refusal = (message: RegExp): object => ({
  code: 'component.package_unavailable',
  message: expect.stringMatching(message),
});

/** The server's own registry. */
const umask = process.umask(0o077);

beforeAll(async () => {
  level = await detectIsolation('auto');
  registry = await NpmRegistry.start({ privateScopes: ['@acme'] });
}, 60_000);

afterAll(async () => {
  process.umask(umask);
  await registry.close();
});

beforeEach(() => {
  folder = tempDir('packages');
  facts = [];
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
  removeDir(folder);
});

const install = (store: PackageStore, specifiers: readonly string[], more: object = {}): Promise<InstalledPackages> =>
  store.install({ specifiers, workspaceId: 'o_one', ...more });

describe('installing packages', () => {
  it('takes the newest version and pins it, so that the lock never asks for a newer one', async () => {
    await registry.publish('pinned', '1.0.0');
    const store = storeWith();
    const first = await install(store, ['pinned', 'pinned/index.js']);
    expect(versions(first)).toEqual(['pinned@1.0.0']);
    expect(first).toMatchObject({ cached: false, warnings: [] });
    expect(first.lock.packages[0]?.publishedAt).toBeLessThan(Date.now() - 24 * HOUR);
    await registry.publish('pinned', '1.1.0');
    const asked = registry.requests().length;
    const again = await install(store, ['pinned'], { lock: first.lock });
    expect(versions(again)).toEqual(['pinned@1.0.0']);
    expect(again).toMatchObject({ cached: true, folder: first.folder, bytes: first.bytes });
    expect(registry.requests()).toHaveLength(asked);
    // Elsewhere the lock is installed from the registry, by its integrity.
    folder = tempDir('packages');
    expect(versions(await install(storeWith(), ['pinned'], { lock: first.lock }))).toEqual(['pinned@1.0.0']);
    expect(versions(await install(store, ['pinned']))).toEqual(['pinned@1.1.0']);
    expect(facts[0]).toMatchObject({ workspace_id: 'o_one', packages: 1, downloaded: 1, cached: false });
  }, 60_000);

  it('installs several versions of one package, ranges, scopes and what they need', async () => {
    for (const version of ['1.0.0', '1.0.5', '1.2.0', '2.0.0']) await registry.publish('many', version);
    await registry.publish('@open/scoped', '3.0.0', undefined, { dependencies: { many: '~1.0.0' } });
    const wanted = ['many', 'many@^1.0.0', 'many@1.0.0/index.js', 'many@2', '@open/scoped@^3.0.0'];
    const installed = await install(storeWith(), wanted);
    expect(wanted.map((one) => text(installed, one).trim())).toEqual([
      "module.exports = 'many@2.0.0';",
      "module.exports = 'many@1.2.0';",
      "module.exports = 'many@1.0.0';",
      "module.exports = 'many@2.0.0';",
      "module.exports = '@open/scoped@3.0.0';",
    ]);
    expect([...versions(installed)].sort()).toEqual([
      '@open/scoped@3.0.0',
      'many@1.0.0',
      'many@1.0.5',
      'many@1.2.0',
      'many@2.0.0',
    ]);
    const file = path.join(installed.folder, 'node_modules/many/index.js');
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(statSync(file).nlink).toBeGreaterThan(1);
  }, 60_000);

  it('runs no scripts, and leaves out links and bundled packages', async () => {
    const tarball = tarballOf([
      { path: 'package/package.json', content: '{"name":"linked","version":"1.0.0"}' },
      { path: 'package/link', header: { type: 'SymbolicLink', linkpath: '/etc/passwd' } },
      { path: 'package/node_modules/inner/index.js', content: 'bundled' },
      { path: 'package/a/b.js', content: 'b' },
    ]);
    await registry.publish(
      'linked',
      '1.0.0',
      {},
      { tarball, manifest: { scripts: { install: 'touch /tmp/sluice-script-ran' } } },
    );
    const installed = await install(storeWith(), ['linked']);
    expect(readdirSync(path.join(installed.folder, 'node_modules/linked'))).toEqual(['a', 'package.json']);
    expect(existsSync('/tmp/sluice-script-ran')).toBe(false);
  }, 60_000);

  it('downloads once when the same is installed twice at once, also by two servers on one folder', async () => {
    await registry.publish('shared', '1.0.0');
    const first = await install(storeWith(), ['shared']);
    folder = tempDir('packages');
    const one = storeWith();
    const before = registry.requests().filter((each) => each.endsWith('shared-1.0.0.tgz')).length;
    await Promise.all([
      install(one, ['shared'], { lock: first.lock }),
      install(one, ['shared'], { lock: first.lock, workspaceId: 'o_two' }),
    ]);
    expect(registry.requests().filter((each) => each.endsWith('shared-1.0.0.tgz'))).toHaveLength(before + 1);
    folder = tempDir('packages');
    const [a, b] = await Promise.all([
      install(storeWith(), ['shared'], { lock: first.lock }),
      install(storeWith(), ['shared'], { lock: first.lock }),
    ]);
    expect(a.folder).toBe(b.folder);
    expect(text(a, 'shared')).toContain('shared@1.0.0');
  }, 60_000);
});

describe('packages that are refused', () => {
  it('names what does not exist, and a version that does not', async () => {
    await registry.publish('lonely', '1.0.0');
    const store = storeWith();
    await expect(install(store, ['no-such-package'])).rejects.toMatchObject(
      refusal(/no npm package "no-such-package"/),
    );
    await expect(install(store, ['lonely@^9.0.0'])).rejects.toMatchObject(
      refusal(/"lonely" has no version \^9.0.0: the newest is 1.0.0/),
    );
    await expect(install(store, ['@pipedream/platfrom'])).rejects.toMatchObject(
      refusal(/there is no npm package "@pipedream\/platfrom" at/),
    );
    for (const name of ['@pipedream/platform/dist', '@pipedream/types@1', 'sluice/test'])
      await expect(install(store, [name])).rejects.toMatchObject(refusal(/the runtime takes its place/));
    await expect(install(store, ['lonely@git+ssh:x'])).rejects.toMatchObject(refusal(/names no npm package/));
  }, 60_000);

  it.each([
    ['git', 'git+https://127.0.0.1/a/b.git'],
    ['git', 'someone/something'],
    ['URL', 'http://127.0.0.1:1/x.tgz'],
    ['file', 'file:../../etc'],
  ])(
    'refuses a %s dependency (%s), and names the package that wants it',
    async (_kind, spec) => {
      const name = `wants-${spec.replace(/[^a-z]/g, '')}`;
      await registry.publish(name, '1.0.0', undefined, { dependencies: { foreign: spec } });
      await expect(install(storeWith(), [name])).rejects.toMatchObject(refusal(new RegExp(`"${name}" needs`)));
    },
    60_000,
  );

  // docs/reference/component-model.md#shim-packages
  it('never asks for packages whose place the runtime takes, and installs others of their scope', async () => {
    const dependencies = { '@pipedream/types': '*', '@pipedream/platform': '^3.0.0', sluice: '*' };
    await registry.publish('wants-types', '1.0.0', undefined, { dependencies });
    await registry.publish('needed-by-shop', '1.0.0');
    await registry.publish('@pipedream/shop', '1.0.0', undefined, {
      dependencies: { ...dependencies, 'needed-by-shop': '*' },
    });
    await registry.publish('wants-another', '1.0.0', undefined, { dependencies: { '@pipedream/shop': '*' } });
    const before = registry.requests().length;
    expect(versions(await install(storeWith(), ['wants-types']))).toEqual(['wants-types@1.0.0']);
    const wanted = [...versions(await install(storeWith(), ['wants-another']))].sort();
    expect(wanted).toEqual(['@pipedream/shop@1.0.0', 'needed-by-shop@1.0.0', 'wants-another@1.0.0']);
    expect(versions(await install(storeWith(), ['@pipedream/shop@^1.0.0/sources/new.mjs']))).toContain(
      '@pipedream/shop@1.0.0',
    );
    const asked = registry.requests().slice(before).join('\n');
    expect(asked).toContain('shop');
    expect(asked).not.toMatch(/pipedream(?:\/|%2f)(?:platform|types)|sluice/i);
  }, 60_000);

  // docs/reference/rest-api.md#component-packages
  it('pins the licence that each states', async () => {
    const stated = { plain: 'MIT', former: { type: 'BSD' }, none: undefined, long: 'x'.repeat(5_000) };
    for (const [name, license] of Object.entries(stated))
      await registry.publish(`licensed-${name}`, '1.0.0', undefined, { manifest: { license } });
    const specifiers = Object.keys(stated).map((name) => `licensed-${name}`);
    const { lock } = await install(storeWith(), specifiers);
    const licences = Object.fromEntries(lock.packages.map(({ name, licence }) => [name, licence]));
    expect(licences).toEqual({
      'licensed-plain': 'MIT',
      'licensed-former': 'BSD',
      'licensed-long': expect.stringMatching(/^x{99}…$/),
    });
  }, 60_000);

  it('leaves out young versions with a warning, unless they are named exactly, and says when there are only such', async () => {
    await registry.publish('fresh', '1.0.0');
    await registry.publish('fresh', '1.1.0', undefined, { time: ago(3) });
    await registry.publish('newborn', '1.0.0', undefined, { time: ago(2) });
    await registry.publish('holds-fresh', '1.0.0', undefined, { dependencies: { fresh: '^1.0.0' } });
    const store = storeWith({ minAgeMs: 24 * HOUR });
    for (const specifier of ['fresh', 'fresh@^1.0.0', 'holds-fresh']) {
      const installed = await install(store, [specifier]);
      expect(versions(installed)).toContain('fresh@1.0.0');
      expect(installed.warnings).toMatchObject([
        {
          code: 'package_version_too_young',
          path: 'fresh',
          message: expect.stringMatching(/fresh@1.1.0.*3 h ago.*24 h/),
        },
      ]);
    }
    const exact = await install(store, ['fresh@1.1.0']);
    expect(versions(exact)).toEqual(['fresh@1.1.0']);
    expect(exact.warnings).toEqual([]);
    await expect(install(store, ['newborn'])).rejects.toMatchObject(
      refusal(/"newborn" are younger than 24 h.*newborn@1.0.0/),
    );
    expect(versions(await install(storeWith({ minAgeMs: 0 }), ['fresh']))).toEqual(['fresh@1.1.0']);
  }, 60_000);

  it('refuses denied versions everywhere, from the cache too', async () => {
    await registry.publish('bad', '1.0.0');
    await registry.publish('bad', '1.0.1');
    await registry.publish('uses-bad', '1.0.0', undefined, { dependencies: { bad: '1.0.1' } });
    const { lock } = await install(storeWith(), ['bad']);
    const store = storeWith({ deny: ['bad@>=1.0.1'] });
    expect(versions(await install(store, ['bad']))).toEqual(['bad@1.0.0']);
    await expect(install(store, ['bad'], { lock })).rejects.toMatchObject(refusal(/"bad@1.0.1" is not allowed/));
    await expect(install(store, ['uses-bad'])).rejects.toMatchObject(
      refusal(/"bad@1.0.1" is not allowed.*"uses-bad" needs/),
    );
    await expect(install(storeWith({ deny: ['bad'] }), ['bad@1.0.0'])).rejects.toMatchObject(
      refusal(/"bad" is not allowed/),
    );
  }, 60_000);

  it('gives a private scope to its workspaces only, from the cache too, and asks no other registry', async () => {
    await registry.publish('@acme/secret', '1.0.0');
    const other = await NpmRegistry.start();
    try {
      const options = {
        registries: [
          { scope: null, url: other.url, token: null, tarballHosts: [] },
          { scope: '@acme', url: registry.url, token: registry.token, tarballHosts: [] },
        ],
        scopes: [{ scope: '@acme', workspaces: ['o_one'] }],
      };
      const store = storeWith(options);
      const { lock, folder: made } = await install(store, ['@acme/secret']);
      expect(existsSync(made)).toBe(true);
      const closed = refusal(/^the npm package "@acme\/secret" is not available to this workspace$/);
      await expect(install(store, ['@acme/secret'], { workspaceId: 'o_two', lock })).rejects.toMatchObject(closed);
      await expect(install(store, ['@acme/secret'], { workspaceId: 'o_two' })).rejects.toMatchObject(closed);
      await expect(install(store, ['@acme/missing'])).rejects.toMatchObject(refusal(/no npm package "@acme\/missing"/));
      expect(other.requests().filter((each) => each.includes('acme'))).toEqual([]);
      const denied = storeWith({
        ...options,
        registries: [{ scope: null, url: registry.url, token: 'a-wrong-token', tarballHosts: [] }],
        scopes: [],
      });
      const error = await failure(install(denied, ['@acme/secret@^1.0.0']));
      expect(error).toMatchObject(refusal(/refuses access|no npm package/));
      expect(String(error)).not.toContain('a-wrong-token');
    } finally {
      await other.close();
    }
  }, 60_000);

  it('installs offline what is pinned and cached, and refuses the rest', async () => {
    await registry.publish('kept', '1.0.0');
    await registry.publish('not-kept', '1.0.0');
    const { lock } = await install(storeWith(), ['kept']);
    const offline = storeWith({ offline: true });
    const asked = registry.requests().length;
    expect(versions(await install(offline, ['kept'], { lock }))).toEqual(['kept@1.0.0']);
    await expect(install(offline, ['not-kept'])).rejects.toMatchObject(refusal(/"not-kept".*offline/));
    expect(registry.requests()).toHaveLength(asked);
  }, 60_000);

  it('refuses a tarball that was changed, and one at a host that is not listed', async () => {
    await registry.publish('changed', '1.0.0');
    registry.replaceTarball('changed', '1.0.0', tarballOf([{ path: 'package/index.js', content: 'evil' }]));
    await expect(install(storeWith(), ['changed'])).rejects.toMatchObject(
      refusal(/"changed@1.0.0" does not match its integrity/),
    );
    let reached = 0;
    const foreign = createServer((_, response) => {
      reached++;
      response.writeHead(302, { location: `${registry.url}/x` }).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => foreign.once('listening', resolve));
    const { port } = foreign.address() as AddressInfo;
    await registry.publish('moved', '1.0.0');
    const { lock } = await install(storeWith(), ['moved']);
    folder = tempDir('packages');
    const packages = lock.packages.map((one) => ({ ...one, resolved: `http://127.0.0.1:${port}/moved.tgz` }));
    await expect(install(storeWith(), ['moved'], { lock: { ...lock, packages } })).rejects.toMatchObject(
      refusal(/neither its registry nor/),
    );
    expect(reached).toBe(0);
    foreign.close();
  }, 60_000);

  it('says that a registry cannot be reached, or takes too long', async () => {
    const closed = await NpmRegistry.start();
    await closed.close();
    const gone = storeWith({ registries: [{ scope: null, url: closed.url, token: null, tarballHosts: [] }] });
    await expect(install(gone, ['anything'])).rejects.toMatchObject(
      refusal(/cannot be reached for the npm package "anything" \(ECONNREFUSED\)/),
    );
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as AddressInfo;
    const slow = storeWith({
      registries: [{ scope: null, url: `http://127.0.0.1:${port}`, token: null, tarballHosts: [] }],
      limits: { timeoutMs: 1_000, waitMs: 300 },
    });
    const [first, second] = await Promise.all([
      failure(install(slow, ['anything'])),
      failure(install(slow, ['other'])),
    ]);
    expect(first).toMatchObject(refusal(/"anything" could not be installed within 1000 ms/));
    expect(second).toMatchObject({ code: 'component.builds_overloaded' });
    silent.closeAllConnections();
    silent.close();
  }, 60_000);

  it('unpacks paths that name a folder by a dot', async () => {
    const entries = [
      { path: 'package/package.json', content: '{"name":"dotted","version":"1.0.0"}' },
      { path: 'package/./dist/./index.js', content: 'within' },
    ];
    await registry.publish('dotted', '1.0.0', {}, { tarball: tarballOf(entries) });
    expect(text(await install(storeWith(), ['dotted']), 'dotted', 'dist/index.js')).toBe('within');
  });

  it.each([
    ['leaves its folder', [{ path: 'package/../../escaped.js', content: 'x' }], /leaves the package/],
    ['has an absolute path', [{ path: '/package/escaped.js', content: 'x' }], /leaves the package/],
    [
      'has a file and a folder of one path',
      [
        { path: 'package/a', content: 'x' },
        { path: 'package/a/b', content: 'x' },
      ],
      /the same path/,
    ],
    [
      'unpacks to far more',
      [{ path: 'package/zeros', content: Buffer.alloc(40_000_000) }],
      /times its \d+ bytes|decompression/i,
    ],
    ['is no tarball', undefined, /cannot be (?:read|unpacked)/],
  ])(
    'refuses a tarball that %s',
    async (what, entries, message) => {
      const name = `hostile-${what.replace(/[^a-z]/g, '')}`;
      await registry.publish(name, '1.0.0', {}, { tarball: entries ? tarballOf(entries) : Buffer.from('no tarball') });
      await expect(install(storeWith(), [name])).rejects.toMatchObject(
        refusal(new RegExp(`"${name}@1.0.0" cannot be unpacked: .*${message.source}`)),
      );
      expect(readdirSync(path.join(folder, 'content'))).toEqual([]);
      expect(readdirSync(path.join(folder, 'trees'))).toEqual([]);
    },
    60_000,
  );
});
