import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DEFAULT_CODE_LIMITS } from '../ports.js';
import { registryFolder } from './registry-folder.js';
import { type RegistryPackages, RegistrySources, type RegistrySourcesOptions } from './registry-sources.js';

let scratch: string;
beforeEach(() => void (scratch = mkdtempSync(path.join(tmpdir(), 'sluice-registry-'))));
afterEach(() => rmSync(scratch, { recursive: true }));

const write = (files: Readonly<Record<string, string>>, below = 'registry'): string => {
  const root = path.join(scratch, below);
  mkdirSync(root, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
};
const component = (key: string, head = ''): string =>
  `${head}export default { key: "${key}", version: "1", run() {} };`;

describe('the folder of the registry', () => {
  it('offers the files that look like components, and no apps, tests, packages or hidden copies', async () => {
    const root = write({
      'b/new-item.mjs': component('b-new-item'),
      'a/act.ts': `export default { "key": 'a-act', type: 'action' }`,
      'a/a.app.mjs': component('a-app'),
      'a/new.test.mjs': component('a-test'),
      'a/common.mjs': 'export const label = 1;',
      'a/README.md': component('a-readme'),
      'node_modules/x/index.js': component('x'),
      '.new-copy/a.mjs': component('half'),
    });
    expect(await registryFolder(root, DEFAULT_CODE_LIMITS).candidates()).toEqual(['a/act.ts', 'b/new-item.mjs']);
  });

  // docs/reference/component-model.md#registry-files
  it('offers compiled files of a source that has no others', async () => {
    const root = write({
      'both/sources/new.ts': component('both-new'),
      'both/dist/sources/new.mjs': component('both-new'),
      'compiled/dist/sources/new.mjs': component('compiled-new'),
      'compiled/lib/dist/act.js': component('compiled-act'),
      'dist/old.mjs': component('dist-old'),
    });
    expect(await registryFolder(root, DEFAULT_CODE_LIMITS).candidates()).toEqual([
      'both/sources/new.ts',
      'compiled/dist/sources/new.mjs',
      'compiled/lib/dist/act.js',
      'dist/old.mjs',
    ]);
  });

  it('reads a component with what it imports, by its path', async () => {
    const root = write({
      'shop/sources/new/new.mjs': component('shop-new', `import app from '../../shop.app.mjs';\n`),
      'shop/shop.app.mjs': `import x from './x';`,
      'shop/x.js': '',
    });
    const read = await registryFolder(root, DEFAULT_CODE_LIMITS).read('shop/sources/new/new.mjs');
    expect(read.fileName).toBe('shop/sources/new/new.mjs');
    expect(Object.keys(read.files ?? {}).sort()).toEqual(['shop/shop.app.mjs', 'shop/x.js']);
  });

  it('reads nothing outside of it, neither by a path nor by a link', async () => {
    write({ 'secret.mjs': 'export const secret = 1;' }, 'outside');
    const root = write({
      'a.mjs': component('a', `import '../outside/secret.mjs';import './link.mjs';import './folder/secret.mjs';\n`),
    });
    symlinkSync(path.join(scratch, 'outside/secret.mjs'), path.join(root, 'link.mjs'));
    symlinkSync(path.join(scratch, 'outside'), path.join(root, 'folder'));
    const folder = registryFolder(root, DEFAULT_CODE_LIMITS);
    const read = await folder.read('a.mjs');
    expect(read.files).toBeUndefined();
    expect(read.missing).toHaveLength(3);
    expect(await folder.candidates()).toEqual(['a.mjs']);
  });

  it('notices a change of any file', async () => {
    const root = write({ 'a.mjs': component('a'), 'lib/b.mjs': '1' });
    const folder = registryFolder(root, DEFAULT_CODE_LIMITS);
    const before = await folder.fingerprint();
    expect(await folder.fingerprint()).toBe(before);
    write({ 'lib/b.mjs': '22' });
    expect(await folder.fingerprint()).not.toBe(before);
  });
});

describe('the sources of the registry', () => {
  const packages: RegistryPackages = { fetch: () => Promise.reject(new Error('the npm package "p" is away')) };
  const sources = (over: Partial<RegistrySourcesOptions> = {}): RegistrySources =>
    new RegistrySources({ dir: path.join(scratch, 'registry'), now: () => 5, packages, ...over });
  const copied = (name: string): string => readFileSync(path.join(scratch, 'registry', name), 'utf8');

  it('copies a folder, and again on an update', async () => {
    const from = write({ 'a.mjs': '1', 'node_modules/x.js': '' }, 'Team Parts');
    const added = await sources().add(from);
    expect(added).toEqual({
      name: 'team-parts',
      from,
      kind: 'folder',
      revision: null,
      license: 'none stated',
      updatedAt: 5,
    });
    expect(readdirSync(path.join(scratch, 'registry/team-parts')).sort()).toEqual(['.source.json', 'a.mjs']);
    writeFileSync(path.join(from, 'a.mjs'), '2');
    await sources().update('team-parts');
    expect(copied('team-parts/a.mjs')).toBe('2');
    expect(await sources().list()).toEqual([added]);
    expect(readdirSync(path.join(scratch, 'registry'))).toEqual(['team-parts']);
  });

  it('clones a repository at its newest commit, or at a branch', async () => {
    const repository = write({ 'a.mjs': 'main' }, 'parts');
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
        encoding: 'utf8',
      });
    git('init', '--quiet', '--initial-branch', 'main');
    git('add', '.');
    git('commit', '--quiet', '-m', 'one');
    git('checkout', '--quiet', '-b', 'next');
    writeFileSync(path.join(repository, 'a.mjs'), 'next');
    git('commit', '--quiet', '-am', 'two');
    git('checkout', '--quiet', 'main');

    const added = await sources().add(`git+file://${repository}`);
    expect(added).toMatchObject({ name: 'parts', kind: 'git', revision: git('rev-parse', 'main').trim() });
    expect(copied('parts/a.mjs')).toBe('main');
    const next = await sources().add(`git+file://${repository}#next`, 'next');
    expect(next.revision).toBe(git('rev-parse', 'next').trim());
    expect(copied('next/a.mjs')).toBe('next');
    expect(readdirSync(path.join(scratch, 'registry/next')).sort()).toEqual(['.source.json', 'a.mjs']);
  });

  it('copies an npm package by its name, without what it depends on, and keeps nothing of one that failed', async () => {
    const folder = write({ 'a.mjs': '1', 'node_modules/x.js': '' }, 'installed');
    const asked: string[] = [];
    const fetch: RegistryPackages['fetch'] = async (specifier, use) => {
      asked.push(specifier);
      await use(folder);
      return '1.2.3';
    };
    const added = await sources({ packages: { fetch } }).add('npm:@acme/parts@^1.0.0');
    expect(added).toMatchObject({ name: 'parts', from: 'npm:@acme/parts@^1.0.0', kind: 'npm', revision: '1.2.3' });
    expect(readdirSync(path.join(scratch, 'registry/parts')).sort()).toEqual(['.source.json', 'a.mjs']);
    writeFileSync(path.join(folder, 'a.mjs'), '2');
    await sources({ packages: { fetch } }).update('parts');
    expect(copied('parts/a.mjs')).toBe('2');
    expect(asked).toEqual(['@acme/parts@^1.0.0', '@acme/parts@^1.0.0']);
    await expect(sources().update('parts')).rejects.toThrow('"p" is away');
    await expect(sources().add('npm:p')).rejects.toThrow('"p" is away');
    expect(copied('parts/a.mjs')).toBe('2');
    expect(readdirSync(path.join(scratch, 'registry'))).toEqual(['parts']);
  });

  it('refuses a taken name, a name that is no folder, and what is no source, and leaves nothing behind', async () => {
    const from = write({ 'a.mjs': '1' }, 'parts');
    await sources().add(from);
    await expect(sources().add(from)).rejects.toThrow('the registry has parts already: give another --name');
    await expect(sources().add(from, '../up')).rejects.toThrow('the name "../up" cannot be a folder');
    await expect(sources().add(path.join(scratch, 'nowhere'))).rejects.toThrow(
      'is no folder: give a folder, git+<url> or npm:<name>',
    );
    await expect(sources().add('git+file:///nowhere/at-all')).rejects.toThrow(/git could not clone file:\/\/\/nowhere/);
    await expect(sources().update('gone')).rejects.toThrow('the registry has no source gone: it has parts');
    expect(readdirSync(path.join(scratch, 'registry'))).toEqual(['parts']);
  });

  // docs/reference/component-model.md#registry-licence
  it.each<[string, Readonly<Record<string, string>>]>([
    ['MIT', { 'package.json': '{"license": "MIT"}', LICENSE: 'text' }],
    ['ISC', { 'package.json': '{"license": {"type": "ISC"}}' }],
    ['none stated, see its LICENSE.md', { 'package.json': '{"name": "x"}', 'LICENSE.md': 'text' }],
    ['none stated, see its COPYING', { COPYING: 'text' }],
    ['none stated', { 'package.json': 'no json' }],
    ['none stated', { 'licenses.mjs': '' }],
  ])('names its licence: %s', async (license, files) => {
    const from = write(files, 'licensed');
    expect(await sources().add(from)).toMatchObject({ license });
    expect(await sources().list()).toMatchObject([{ license }]);
  });

  it('reads no licence through a link', async () => {
    const from = write({ 'a.mjs': '' }, 'linked');
    symlinkSync('/dev/zero', path.join(from, 'package.json'));
    expect(await sources().add(from)).toMatchObject({ license: 'none stated' });
  });

  it('removes a source with its files', async () => {
    await sources().add(write({ 'a.mjs': '1' }, 'parts'));
    await sources().remove('parts');
    expect(await sources().list()).toEqual([]);
    await expect(sources().remove('parts')).rejects.toThrow('it has none');
  });
});
