import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '#libs/config/index.js';
import { ProtocolBreach } from '#libs/framing/records.js';
import { parseUnpacked, wrongPath } from '#libs/sandbox/unpack/unpack-message.js';
import { Access } from './access.js';
import { DenyList, wrongDenial } from './deny-list.js';
import { wrongShape } from './fetcher/json-shape.js';
import { isPlace, lockedPackageOf } from './fetcher/message.js';
import { runsOn } from './fetcher/platform.js';
import { RegistryRules } from './registry-rules.js';
import { parseSpecifier } from './specifier.js';
import { lockOf, wantedBy } from './wanted-packages.js';

describe('specifiers of packages', () => {
  it.each([
    ['a', 'a', '', ''],
    ['a@1.2.3', 'a', '1.2.3', ''],
    ['a@^1/sub/path.js', 'a', '^1', 'sub/path.js'],
    ['@s/a', '@s/a', '', ''],
    ['@s/a@~1.0.0/x', '@s/a', '~1.0.0', 'x'],
    ['a@next', 'a', 'next', ''],
  ])('reads %s', (given, name, range, subpath) => {
    expect(parseSpecifier(given)).toEqual({ name, range, subpath });
  });

  it.each(['', '@', '@s', '../a', '.hidden', 'a@', 'a@npm:b', 'a@git+ssh://x', 'A b', 'node_modules', '_a'])(
    'refuses %j',
    (given) => expect(parseSpecifier(given)).toBeUndefined(),
  );

  it('gives each range of a name a place of its own, and two that resolve to one version the same place', () => {
    const wanted = wantedBy(['a@2', 'a', 'a/sub', 'a@1', 'a--2']);
    expect(wanted.roots.map(({ alias, name, range }) => [alias, name, range])).toEqual(
      expect.arrayContaining([
        ['a', 'a', ''],
        ['a--2', 'a--2', ''],
        ['a--3', 'a', '1'],
        ['a--4', 'a', '2'],
      ]),
    );
    const one = { integrity: `sha1-${'a'.repeat(27)}=`, resolved: 'http://x/a.tgz', publishedAt: null };
    const lock = lockOf(wanted, [
      { ...one, place: 'node_modules/a', name: 'a', version: '2.0.0' },
      { ...one, place: 'node_modules/a--2', name: 'a--2', version: '1.0.0' },
      { ...one, place: 'node_modules/a--3', name: 'a', version: '1.0.0' },
      { ...one, place: 'node_modules/a--4', name: 'a', version: '2.0.0' },
    ]);
    expect(lock.specifiers).toEqual({
      a: 'node_modules/a',
      'a/sub': 'node_modules/a',
      'a@2': 'node_modules/a',
      'a@1': 'node_modules/a--3',
      'a--2': 'node_modules/a--2',
    });
    expect(lock.packages).toHaveLength(3);
  });
});

describe('rules of registries', () => {
  const rules = new RegistryRules([
    { scope: null, url: 'https://npm.example', token: 'general', tarballHosts: [] },
    { scope: '@acme', url: 'http://10.0.0.1:4873/npm', token: 'secret', tarballHosts: ['cdn.example:8443'] },
  ]);

  it('takes tarballs from the registry of the package and the hosts that are listed for its scope', () => {
    expect(rules.tarballUrl('@acme/a', 'http://10.0.0.1:4873/x.tgz')?.port).toBe('4873');
    expect(rules.tarballUrl('@acme/a', 'https://cdn.example:8443/x.tgz')?.host).toBe('cdn.example:8443');
    expect(rules.tarballUrl('a', 'https://registry.npmjs.org/a/-/a.tgz')?.href).toBe('https://npm.example/a/-/a.tgz');
    for (const foreign of [
      'http://10.0.0.1:80/x',
      'https://npm.example/x',
      'file:///etc/passwd',
      'http://u:p@10.0.0.1:4873/x',
    ])
      expect(rules.tarballUrl('@acme/a', foreign)).toBeUndefined();
    expect(rules.tarballUrl('a', 'http://10.0.0.1:4873/x.tgz')).toBeUndefined();
  });

  it('sends a token to its own registry only, and removes it from texts', () => {
    expect(rules.tokenFor('@acme/a', new URL('http://10.0.0.1:4873/x'))).toBe('secret');
    expect(rules.tokenFor('@acme/a', new URL('https://cdn.example:8443/x'))).toBeNull();
    expect(rules.tokenFor('a', new URL('http://10.0.0.1:4873/x'))).toBeNull();
    expect(rules.masked('Bearer secret, general')).toBe('Bearer ***, ***');
    expect(rules.addresses()).toEqual(new Set(['npm.example:443', '10.0.0.1:4873', 'cdn.example:8443']));
  });
});

describe('what comes from strangers', () => {
  it.each([
    '',
    '/etc/x',
    '../x',
    'a/../../x',
    'a//b',
    'a\\b',
    'a\0b',
    'C:/x',
    'a/'.repeat(40) + 'x',
    'x'.repeat(300),
    './x',
    'node_modules/a/index.js',
    'Node_Modules/a/index.js',
  ])('refuses the path %j', (path) => expect(wrongPath(path)).toBeDefined());

  it('accepts paths within a package, and places below node_modules', () => {
    expect(wrongPath('lib/a b/ü.js')).toBeUndefined();
    expect(wrongPath('dist/node_modules/a/index.js')).toBeUndefined();
    expect(isPlace('node_modules/@s/a/node_modules/b')).toBe(true);
    for (const place of ['a', 'node_modules/../x', 'node_modules/.hidden', 'node_modules/a/b', 'node_modules/a/'])
      expect(isPlace(place)).toBe(false);
    expect(
      lockedPackageOf({
        place: 'node_modules/a',
        name: 'a',
        version: '1.0.0',
        integrity: 'md5-x',
        resolved: '',
        publishedAt: 1,
      }),
    ).toBeUndefined();
  });

  it.each(['node_modules/b/index.js', '../x', '/etc/x'])(
    'refuses %j as the path of a file also when the process that unpacks it was taken over',
    (path) => {
      const part = { path, bytes: 1, executable: false, starts: true };
      const json = Buffer.from(JSON.stringify({ kind: 'files', last: true, parts: [[part.path, part.bytes, 0, 1]] }));
      expect(() => parseUnpacked({ index: 0, json, raw: Buffer.from('x') })).toThrow(ProtocolBreach);
    },
  );

  it('refuses descriptions whose objects would take too much memory, before they are parsed', () => {
    const limits = { depth: 3, values: 7 };
    const shape = (text: string) => wrongShape(Buffer.from(text), limits);
    expect(shape('{"a":["b,c[[[[","\\"],[","\\\\"],"d":[]}')).toBeUndefined();
    expect(shape('[[[[]]]]')).toBe('nests more than 3 levels deep');
    expect(shape('[1,2,3,4,5,6,7]')).toBe('has more than 7 values');
    expect(shape('"never closed')).toBeUndefined();
  });

  it('keeps packages of other platforms out', () => {
    const here = { os: 'linux', cpu: 'x64', libc: 'glibc' };
    expect(runsOn(here, {})).toBe(true);
    expect(runsOn(here, { os: ['darwin'] })).toBe(false);
    expect(runsOn(here, { os: ['!win32'], cpu: ['x64', 'arm64'], libc: ['glibc'] })).toBe(true);
    expect(runsOn(here, { libc: ['musl'] })).toBe(false);
  });
});

describe('who may have which package', () => {
  it('denies names and ranges', () => {
    const deny = new DenyList(['a', '@s/b@<2']);
    expect([
      deny.denies('a', '1.0.0'),
      deny.denies('@s/b', '1.9.0'),
      deny.denies('@s/b', '2.0.0'),
      deny.denies('c', '1.0.0'),
    ]).toEqual([true, true, false, false]);
    expect(wrongDenial('@s/b@<2')).toBeUndefined();
    expect(wrongDenial('a@x y')).toMatch(/write name or name@range/);
  });

  it('opens a scope to its workspaces, and one without a list to all', () => {
    const access = new Access(
      [],
      [
        { scope: '@one', workspaces: ['o_a'] },
        { scope: '@all', workspaces: null },
      ],
    );
    expect(access.closedTo('o_a')).toEqual([]);
    expect(access.closedTo('o_b')).toEqual(['@one']);
  });
});

describe('settings of packages', () => {
  it('reads scopes, and says what to write instead of a wrong one', () => {
    const scopes = (text: string) => loadConfig({ SLUICE_NPM_SCOPES: text }, () => undefined).npmScopes;
    expect(scopes('{"@acme":{"registry":"http://10.0.0.1:4873/","token":"t","workspaces":["o_1"]}}')).toEqual([
      {
        scope: '@acme',
        registry: 'http://10.0.0.1:4873',
        token: 't',
        tokenVariable: null,
        tarballHosts: [],
        workspaces: ['o_1'],
      },
    ]);
    expect(() => scopes('{"@acme":{"registry":"ftp://x","workspaces":"*"}}')).toThrow(
      /registry of @acme is no http or https URL/,
    );
    expect(() => scopes('{"@acme":{"registry":"http://x"}}')).toThrow(/workspaces of @acme/);
    expect(() => scopes('{"@acme":{"registry":"http://x","workspaces":"*","token":"se cret"}}')).toThrow(
      /^(?!.*se cret)/s,
    );
    expect(() => loadConfig({ SLUICE_NPM_DENY: 'a b' }, () => undefined)).toThrow(/write name or name@range/);
  });
});
