import { afterEach, describe, expect, it } from '@jest/globals';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { BuildProgress, ComponentsModule, componentsContext, RegistrySync, type Synced } from '../index.js';
import { codeOf, FakeCalls, FakeInspector, InMemoryBlobs, noUsers } from '../testing/fakes.js';
import { registryEntries } from './registry.projection.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** The registry over a folder that is a dictionary of paths and codes. */
const world = async () => {
  const plane = await ControlPlane.start({ projections: componentsContext.projections });
  const inspector = new FakeInspector();
  const fetcher = { fetch: (url: string) => Promise.reject(new Error(`unexpected fetch of ${url}`)) };
  const calls = new FakeCalls();
  const app = await httpTestApp({
    imports: [
      ComponentsModule.forRoot({
        ...plane.ports(),
        blobs: new InMemoryBlobs(),
        inspector,
        fetcher,
        calls,
        componentUsers: noUsers,
      }),
    ],
    http: plane.ports(),
    callers: {},
  });
  closing.push(
    () => app.close(),
    () => plane.stop(),
  );
  const progress = new BuildProgress(() => 1_000);
  const sync = async (
    files: Readonly<Record<string, string>>,
    reading: (path: string) => Promise<void> = async () => undefined,
  ): Promise<Synced> => {
    const folder = {
      fingerprint: async () => '',
      candidates: async () => Object.keys(files),
      read: async (path: string) => {
        await reading(path);
        return { code: files[path] ?? '', fileName: path, finalUrl: path };
      },
    };
    const synced = await app.get(RegistrySync).sync(folder, new AbortController().signal, progress);
    await plane.idle();
    return synced;
  };
  const listed = async (): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    for await (const { key, version, path } of registryEntries(plane.readModels)) found[key] = `${version} ${path}`;
    return found;
  };
  return { inspector, sync, listed, progress, idle: () => plane.idle() };
};
const component = (version: string, salt = ''): string => codeOf({ key: 'shop-new-order', version, salt });

// docs/reference/component-model.md#registry-sync
describe('a component of the registry', () => {
  const other = codeOf({ key: 'shop-other', version: '1.0.0' });

  it('can be used as soon as it is built, while others are still built and after one failed', async () => {
    const { sync, listed, progress, idle } = await world();
    const seen: unknown[] = [];
    const files = { 'a/bad.mjs': 'no component', 'a/good.mjs': other, 'b/slow.mjs': component('1.0.0') };
    const synced = await sync(files, async (path) => {
      if (path !== 'b/slow.mjs') return;
      while (progress.counts().done < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      await idle();
      seen.push(await listed(), progress.status(false));
    });
    expect(seen).toMatchObject([
      { 'shop-other': '1.0.0 a/good.mjs' },
      {
        startedAt: 1_000,
        endedAt: null,
        sources: { a: { files: 2, done: 2, failed: 1 }, b: { files: 1, done: 0, failed: 0 } },
        building: ['b/slow.mjs'],
        failed: [{ path: 'a/bad.mjs', reason: expect.stringContaining('cannot be evaluated') }],
      },
    ]);
    expect(synced).toMatchObject({ listed: 2, kept: 0 });
    expect(progress.status(true)).toMatchObject({ endedAt: 1_000, building: [], sources: { b: { done: 1 } } });
  });

  it('leads to no older version while the file of the newest is built again', async () => {
    const { sync, listed, idle } = await world();
    const old = component('1.0.0');
    await sync({ 'new.mjs': component('2.0.0'), 'old.mjs': old });
    const seen: unknown[] = [];
    await sync({ 'old.mjs': old, 'more.mjs': component('1.5.0'), 'new.mjs': component('2.1.0') }, async (path) => {
      if (path !== 'new.mjs') return;
      await idle();
      seen.push(await listed());
    });
    expect(seen).toEqual([{ 'shop-new-order': '2.0.0 new.mjs' }]);
    expect(await listed()).toEqual({ 'shop-new-order': '2.1.0 new.mjs' });
  });

  it('that fails again keeps what it had, and its failure is told at once', async () => {
    const { sync, listed, progress } = await world();
    await sync({ 'a.mjs': other });
    await sync({ 'a.mjs': 'no component' });
    expect(await listed()).toEqual({ 'shop-other': '1.0.0 a.mjs' });
    expect(progress.status(true).failed).toMatchObject([{ path: 'a.mjs' }]);
  });
});

describe('files of the registry with one key', () => {
  it.each<[string, Record<string, string>, string]>([
    ['the newest by numbers, not by text', { 'a.mjs': '0.9.0', 'b.mjs': '0.10.0' }, '0.10.0 b.mjs'],
    ['the release, before what came before it', { 'a.mjs': '1.0.0', 'b.mjs': '1.0.0-rc.2' }, '1.0.0 a.mjs'],
    ['the later of two that came before', { 'a.mjs': '1.0.0-rc.2', 'b.mjs': '1.0.0-rc.10' }, '1.0.0-rc.10 b.mjs'],
    ['any that is a version, before any that is none', { 'a.mjs': 'newest', 'b.mjs': '0.0.1' }, '0.0.1 b.mjs'],
    ['the first path of one version', { 'b.mjs': '1.0.0', 'a.mjs': '1.0.0' }, '1.0.0 a.mjs'],
    ['the first path without versions', { 'z/b.mjs': '', 'y/c.mjs': '' }, ' y/c.mjs'],
    ['the first path of builds of one version', { 'b.mjs': '1.0.0+2', 'a.mjs': '1.0.0+1' }, '1.0.0+1 a.mjs'],
  ])('list %s', async (_, versions, expected) => {
    const { sync, listed } = await world();
    const files = Object.fromEntries(
      Object.entries(versions).map(([path, version]) => [path, component(version, path)]),
    );
    expect(await sync(files)).toEqual({ listed: 1, removed: 0, kept: 1, refused: [] });
    expect(await listed()).toEqual({ 'shop-new-order': expected });
    // In any order of the folder, and again without a change.
    const turned = Object.fromEntries(Object.entries(files).reverse());
    expect(await sync(turned)).toEqual({ listed: 0, removed: 0, kept: 2, refused: [] });
    expect(await listed()).toEqual({ 'shop-new-order': expected });
  });

  it('fall back to the other one when the newest is removed, and follow a newer one', async () => {
    const { sync, listed } = await world();
    const [old, newer, newest] = [component('1.0.0'), component('2.0.0'), component('3.0.0')];
    await sync({ 'old.mjs': old, 'new.mjs': newer });
    await sync({ 'old.mjs': old });
    expect(await listed()).toEqual({ 'shop-new-order': '1.0.0 old.mjs' });
    await sync({ 'old.mjs': old, 'new.mjs': newest });
    expect(await listed()).toEqual({ 'shop-new-order': '3.0.0 new.mjs' });
    expect(await sync({})).toMatchObject({ removed: 1 });
    expect(await listed()).toEqual({});
  });

  it('keep the newest while it cannot be built, with the reason', async () => {
    const { sync, listed } = await world();
    await sync({ 'old.mjs': component('1.0.0'), 'new.mjs': component('2.0.0') });
    const synced = await sync({ 'old.mjs': component('1.0.0'), 'new.mjs': 'no component' });
    expect(synced).toMatchObject({ listed: 0, removed: 0 });
    expect(synced.refused).toEqual([{ path: 'new.mjs', reason: expect.stringContaining('cannot be evaluated') }]);
    expect(await listed()).toEqual({ 'shop-new-order': '2.0.0 new.mjs' });
  });

  it('refuse one without a key, and list the others', async () => {
    const { sync, listed } = await world();
    const { refused } = await sync({ 'a.mjs': codeOf({ version: '1.0.0' }), 'b.mjs': component('1.0.0') });
    expect(refused).toEqual([{ path: 'a.mjs', reason: expect.stringContaining('declares no key') }]);
    expect(await listed()).toEqual({ 'shop-new-order': '1.0.0 b.mjs' });
  });
});
