import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { NpmRegistry, tarballOf } from '#test/harness/npm-registry.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import {
  type InstalledPackages,
  AskedProcess,
  JailLauncher,
  detectIsolation,
  type JailLevel,
} from '#libs/sandbox/index.js';
import { encodeUnpack, parseUnpacked } from '#libs/sandbox/unpack/unpack-message.js';
import { PackageStore, type PackageStoreOptions } from './package-store.js';

const ago = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);

let level: JailLevel;
let registry: NpmRegistry;
let folder: string;
const open: PackageStore[] = [];

const storeWith = (options: Partial<PackageStoreOptions> = {}): PackageStore => {
  const registries = [{ scope: null, url: registry.url, token: null, tarballHosts: [] }];
  const store = new PackageStore({ folder, level, registries, ...options });
  open.push(store);
  return store;
};

const text = (installed: InstalledPackages, name: string): string =>
  readFileSync(path.join(installed.folder, 'node_modules', name, 'index.js'), 'utf8');
const refusal = (message: RegExp): object => ({
  code: 'component.package_unavailable',
  message: expect.stringMatching(message),
});

beforeAll(async () => {
  level = await detectIsolation('auto');
  registry = await NpmRegistry.start();
}, 60_000);

afterAll(() => registry.close());

beforeEach(() => {
  folder = tempDir('packages');
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
  removeDir(folder);
});

const install = (store: PackageStore, specifiers: readonly string[], more: object = {}): Promise<InstalledPackages> =>
  store.install({ specifiers, workspaceId: 'o_one', ...more });

describe('the cache', () => {
  it('sweeps what a process that was killed in the middle left behind, and leaves what another one is making', async () => {
    for (const kind of ['content', 'trees']) {
      for (const name of ['new-dead', 'new-alive', 'old-gone'])
        mkdirSync(path.join(folder, kind, name, 'files'), { recursive: true });
      utimesSync(path.join(folder, kind, 'new-dead'), ago(2), ago(2));
    }
    await registry.publish('swept', '1.0.0');
    await install(storeWith(), ['swept']);
    for (const kind of ['content', 'trees']) {
      const left = readdirSync(path.join(folder, kind)).filter((name) => /^(?:new|old)-/.test(name));
      expect(left).toEqual(['new-alive']);
    }
  }, 60_000);

  it('gives folders that a jail can read, whoever may enter the folders above them', async () => {
    const inner = tarballOf([{ path: 'package/inner.js', content: 'inner' }]);
    const tarball = tarballOf([{ path: 'package/inner.tgz', content: inner }]);
    await registry.publish('nested', '1.0.0', {}, { tarball });
    const installed = await install(storeWith(), ['nested']);
    expect(statSync(folder).mode & 0o077).toBe(0);
    const house = new JailLauncher(level, { memoryMb: 128, tmpMb: 1, startTimeoutMs: 10_000 }, 'unpack');
    const child = await AskedProcess.start(house, { reads: [{ from: installed.folder, to: '/packages' }] });
    try {
      const file = `${child.plan.reads[0] ?? ''}/node_modules/nested/inner.tgz`;
      const order = encodeUnpack({ t: 'open', file, limits: { bytes: 1_000, entries: 10, ratio: 100 } });
      const outcome = await child.ask(order, 10_000, parseUnpacked);
      expect(outcome).toMatchObject({ kind: 'answer', answer: { kind: 'files', parts: [{ path: 'inner.js' }] } });
    } finally {
      child.kill();
      await child.ended;
      await house.close();
    }
  }, 60_000);

  it('never uses a package or a folder that a power cut tore', async () => {
    await registry.publish('torn', '1.0.0');
    const { lock, folder: made } = await install(storeWith(), ['torn']);
    const [key = ''] = readdirSync(path.join(folder, 'content'));
    const content = path.join(folder, 'content', key);
    const [tree = ''] = readdirSync(path.join(folder, 'trees'));
    // Simulates a restart of the machine, after which the marks of its former boot no longer count.
    for (const name of readdirSync(content)) if (name.startsWith('whole-')) rmSync(path.join(content, name));
    rmSync(path.join(folder, 'trees', tree), { recursive: true });
    writeFileSync(path.join(content, 'files/index.js'), 'half');
    const again = await install(storeWith(), ['torn'], { lock });
    expect(again).toMatchObject({ cached: false, folder: made });
    expect(text(again, 'torn')).toContain('torn@1.0.0');
  }, 60_000);

  it.each([
    ['the list of a package is torn', 'content', 'files.json', ''],
    ['the list of a package is gone', 'content', 'files.json', null],
    ['a file of a package is gone', 'content', 'files/index.js', null],
    ['the list of a folder is torn', 'trees', 'packages.json', ''],
    ['the list of a folder is gone', 'trees', 'packages.json', null],
  ])(
    'installs again when %s',
    async (_what, kind, name, left) => {
      await registry.publish('damaged', '1.0.0').catch(() => undefined);
      const { lock } = await install(storeWith(), ['damaged']);
      if (kind === 'content') rmSync(path.join(folder, 'trees'), { recursive: true });
      const [key = ''] = readdirSync(path.join(folder, kind));
      const file = path.join(folder, kind, key, name);
      if (left === null) rmSync(file);
      else writeFileSync(file, left);
      const again = await install(storeWith(), ['damaged'], { lock });
      expect(again.cached).toBe(false);
      expect(text(again, 'damaged')).toContain('damaged@1.0.0');
      expect(await install(storeWith(), ['damaged'], { lock })).toMatchObject({ cached: true, folder: again.folder });
    },
    60_000,
  );

  it('removes what was not used for longest when it is full, and never what is held', async () => {
    const big = { 'index.js': 'x'.repeat(700_000) };
    for (const name of ['old', 'held', 'next', 'last'])
      await registry.publish(name, '1.0.0', big, { manifest: { big: 'yes' } });
    const store = storeWith({ cacheMb: 1, limits: { ratio: 10_000 } });
    const old = await install(store, ['old']);
    await old.release();
    const used = await install(store, ['held']);
    makeOld(folder, 2);
    const next = await install(store, ['next']);
    expect(existsSync(old.folder)).toBe(false);
    expect(existsSync(used.folder)).toBe(true);
    await expect(install(store, ['last'])).rejects.toMatchObject(refusal(/SLUICE_PACKAGES_CACHE_MB/));
    await used.release();
    await next.release();
    makeOld(folder, 1);
    await install(store, ['last']);
    expect(existsSync(used.folder)).toBe(false);
  }, 60_000);
});

/** Sets fresh marks back, as if nothing had been used for these hours. */
const makeOld = (root: string, hours: number): void => {
  for (const kind of ['content', 'trees'])
    for (const key of readdirSync(path.join(root, kind)))
      for (const name of readdirSync(path.join(root, kind, key)))
        if (name.startsWith('whole-')) {
          const mark = path.join(root, kind, key, name);
          if (statSync(mark).mtimeMs > ago(0.5).getTime()) utimesSync(mark, ago(hours), ago(hours));
        }
};
