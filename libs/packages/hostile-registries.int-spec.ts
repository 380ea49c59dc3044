import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { readdirSync } from 'node:fs';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { tarballOf } from '#test/harness/npm-registry.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { type InstalledPackages, detectIsolation } from '#libs/sandbox/index.js';
import { PackageStore } from './package-store.js';

const MB = 1024 * 1024;
const TIME_MS = 90_000;
const TARBALL = tarballOf([{ path: 'package/index.js', content: 'module.exports = 1;' }]);
const integrityOf = (tarball: Buffer): string => `sha512-${createHash('sha512').update(tarball).digest('base64')}`;

type Fields = Record<string, unknown>;

/** Answers of the registry, by path. */
const answers = new Map<string, () => Buffer | string>();
let foreignRequests = 0;
let server: Server;
let foreign: Server;
let url: string;
let folder: string;
let store: PackageStore;

const listen = async (made: Server): Promise<number> => {
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return (made.address() as AddressInfo).port;
};

beforeAll(async () => {
  server = createServer((request, response) => {
    const answer = answers.get(decodeURIComponent(request.url ?? ''));
    if (answer) response.end(answer());
    else response.writeHead(404).end();
  });
  foreign = createServer((_request, response) => {
    foreignRequests++;
    response.end(TARBALL);
  });
  url = `http://127.0.0.1:${await listen(server)}`;
  await listen(foreign);
});

afterAll(async () => {
  for (const made of [server, foreign]) await new Promise((resolve) => made.close(resolve));
});

beforeEach(async () => {
  answers.clear();
  folder = tempDir('packages');
  store = new PackageStore({
    folder,
    level: await detectIsolation('auto'),
    registries: [{ scope: null, url, token: null, tarballHosts: [] }],
    limits: { packages: 100 },
  });
});

afterEach(async () => {
  await store.close();
  removeDir(folder);
});

/** Description of one version, whose tarball is offered. */
const manifest = (name: string, version = '1.0.0', more: Fields = {}, tarball = TARBALL): Fields => {
  const file = `/${name}/-/${version}.tgz`;
  answers.set(file, () => tarball);
  return { name, version, dist: { tarball: url + file, integrity: integrityOf(tarball) }, ...more };
};

const offer = (name: string, versions: Fields, tags: Fields = { latest: '1.0.0' }): void =>
  void answers.set(`/${name}`, () => JSON.stringify({ name, 'dist-tags': tags, versions }));

const withDist = (name: string, dist: unknown): Fields => ({ ...manifest(name), dist });

const install = (specifier: string): Promise<InstalledPackages> =>
  store.install({ specifiers: [specifier], workspaceId: 'o_1' });

/** Packages that the registry offers, and the refusal of an import of `p`. */
const HOSTILE: readonly (readonly [what: string, offered: () => void, message: RegExp])[] = [
  [
    'an integrity that is none',
    () => offer('p', { '1.0.0': withDist('p', { tarball: `${url}/p/-/1.0.0.tgz`, integrity: 'no integrity' }) }),
    /no valid integrity of the npm package "p@1\.0\.0"/,
  ],
  [
    'an integrity of an unknown algorithm',
    () =>
      offer('p', { '1.0.0': withDist('p', { tarball: `${url}/p/-/1.0.0.tgz`, integrity: `md5-${'A'.repeat(22)}==` }) }),
    /"p@1\.0\.0".*integrity/,
  ],
  [
    'an integrity of the wrong length',
    () => offer('p', { '1.0.0': withDist('p', { tarball: `${url}/p/-/1.0.0.tgz`, integrity: 'sha512-AAAA' }) }),
    /"p@1\.0\.0".*integrity/,
  ],
  [
    'an integrity of a megabyte',
    () =>
      offer('p', {
        '1.0.0': withDist('p', { tarball: `${url}/p/-/1.0.0.tgz`, integrity: `sha512-${'A'.repeat(MB)}` }),
      }),
    /"p@1\.0\.0".*integrity/,
  ],
  [
    'a shasum that is none, and no integrity',
    () => offer('p', { '1.0.0': withDist('p', { tarball: `${url}/p/-/1.0.0.tgz`, shasum: '../zz' }) }),
    /no valid integrity of the npm package "p@1\.0\.0"/,
  ],
  [
    'neither integrity nor shasum',
    () => offer('p', { '1.0.0': withDist('p', { tarball: `${url}/p/-/1.0.0.tgz` }) }),
    /no valid integrity of the npm package "p@1\.0\.0"/,
  ],
  [
    'a tarball on another host',
    () => {
      const { port } = foreign.address() as AddressInfo;
      const dist = { tarball: `http://127.0.0.1:${port}/p.tgz`, integrity: integrityOf(TARBALL) };
      offer('p', { '1.0.0': withDist('p', dist) });
    },
    /tarball of the npm package "p@1\.0\.0" is at 127\.0\.0\.1:\d+, which is neither its registry/,
  ],
  [
    'a tarball in a file',
    () => offer('p', { '1.0.0': withDist('p', { tarball: 'file:///etc/passwd', integrity: integrityOf(TARBALL) }) }),
    /tarball of the npm package "p@1\.0\.0" is at/,
  ],
  ['no dist', () => offer('p', { '1.0.0': { name: 'p', version: '1.0.0' } }), /npm package "p".*no version/],
  ['a dist without a tarball', () => offer('p', { '1.0.0': withDist('p', {}) }), /npm package "p".*no version/],
  [
    'versions that are none',
    () => offer('p', { newest: manifest('p', 'newest') }, { latest: 'newest' }),
    /npm package "p".*no version/,
  ],
  ['no versions', () => answers.set('/p', () => '{"name":"p","versions":[]}'), /no versions of the npm package "p"/],
  ['no JSON', () => answers.set('/p', () => 'no JSON'), /npm package "p".*is no JSON/],
  ['null', () => answers.set('/p', () => 'null'), /no versions of the npm package "p"/],
  [
    'a description that is too large',
    () => answers.set('/p', () => Buffer.alloc(65 * MB, ' ')),
    /npm package "p" is too large: its description exceeds the limit of 67108864 bytes/,
  ],
  [
    'a description that nests too deep',
    () => answers.set('/p', () => Buffer.alloc(60 * MB, '[')),
    /npm package "p".*nests more than 100 levels deep/,
  ],
  [
    'a description of millions of small values',
    () => answers.set('/p', () => `[${'{},'.repeat(20_000_000)}{}]`),
    /npm package "p".*has more than 4000000 values/,
  ],
  [
    'a version of __proto__',
    () =>
      answers.set(
        '/p',
        () =>
          `{"name":"p","dist-tags":{"__proto__":"1.0.0","latest":"__proto__"},"versions":{"__proto__":${JSON.stringify(manifest('p'))}}}`,
      ),
    /npm package "p".*no version/,
  ],
  ...(['../escaped', '/etc/passwd', '.bin', 'node_modules', 'ｕnicode', '__proto__', 'a/b', '@s/../../x'] as const).map(
    (name) =>
      [
        `a dependency that is named ${name}`,
        () => {
          const wanted = JSON.stringify(manifest('p', '1.0.0', { dependencies: { placeholder: '*' } }));
          const described = wanted.replace('"placeholder"', JSON.stringify(name));
          answers.set('/p', () => `{"name":"p","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":${described}}}`);
        },
        /npm package|name/,
      ] as const,
  ),
  ...(['../escaped', '../../../escaped', '.bin', 'node_modules', '@s/../../escaped'] as const).map(
    (name) =>
      [
        `an alias that is named ${name}`,
        () => {
          offer('q', { '1.0.0': manifest('q') });
          offer('p', { '1.0.0': manifest('p', '1.0.0', { dependencies: { [name]: 'npm:q@1.0.0' } }) });
        },
        /"[pq](?:@1\.0\.0)?"/,
      ] as const,
  ),
  [
    'more dependencies than the limit',
    () => {
      const names = Array.from({ length: 1_000 }, (_, n) => `d${n}`);
      for (const name of names) offer(name, { '1.0.0': manifest(name) });
      const dependencies = Object.fromEntries(names.map((name) => [name, '*']));
      offer('p', { '1.0.0': manifest('p', '1.0.0', { dependencies }) });
    },
    /npm packages of the component need more than 200 others/,
  ],
  [
    'dependencies without end',
    () => {
      const chained = (name: string, next: string): void => {
        answers.set(`/${name}`, () => {
          chained(next, `${name.slice(0, 1)}${Number(next.slice(1)) + 1}`);
          const described = manifest(name, '1.0.0', { dependencies: { [next]: '*' } });
          return JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': described } });
        });
      };
      offer('p', { '1.0.0': manifest('p', '1.0.0', { dependencies: { c1: '*' } }) });
      chained('c1', 'c2');
    },
    /npm packages of the component need more than 200 others/,
  ],
  [
    'a tarball of another package',
    () => {
      const other = tarballOf([{ path: 'package/package.json', content: '{"name":"other","version":"1.0.0"}' }]);
      offer('p', { '1.0.0': manifest('p', '1.0.0', {}, other) });
    },
    /npm package "p@1\.0\.0" cannot be unpacked: its package\.json names another package, "other"/,
  ],
];

describe('a hostile registry', () => {
  it.each(HOSTILE)(
    'that offers %s gets a refusal that names the package',
    async (_what, offered, message) => {
      offered();
      const error = await install('p').then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: 'component.package_unavailable' });
      expect((error as Error).message).toMatch(message);
      expect((error as Error).message).not.toMatch(/process|ended|Cannot read|undefined/);
      expect((error as Error).message.length).toBeLessThan(600);
      expect(foreignRequests).toBe(0);
      expect(readdirSync(path.join(folder, 'trees'))).toEqual([]);
      // The fetching process still serves the others.
      offer('good', { '1.0.0': manifest('good') });
      expect((await install('good')).lock.packages).toHaveLength(1);
    },
    TIME_MS,
  );

  it(
    'that offers a package with a nameless dependency gets it installed alone',
    async () => {
      offer('undefined', { '1.0.0': manifest('undefined') });
      offer('p', { '1.0.0': manifest('p', '1.0.0', { dependencies: { '': '1.0.0' } }) });
      const { lock } = await install('p');
      expect(lock.packages.map(({ name }) => name)).toEqual(['p']);
    },
    TIME_MS,
  );

  it(
    'that offers packages which need each other gets them installed',
    async () => {
      offer('p', { '1.0.0': manifest('p', '1.0.0', { dependencies: { q: '*' } }) });
      offer('q', { '1.0.0': manifest('q', '1.0.0', { dependencies: { p: '*', q: '*' } }) });
      const { lock } = await install('p');
      expect(lock.packages.map(({ name }) => name)).toEqual(['p', 'q']);
    },
    TIME_MS,
  );
});
