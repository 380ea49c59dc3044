import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { tarballOf, type TarEntry } from '#test/harness/npm-registry.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { tryLevel, type JailLevel, type JailName, TarballJail, type UnpackResult } from '#libs/sandbox/index.js';
import { type UnpackLimits } from '#libs/sandbox/unpack/unpack-message.js';
import { ContentStore } from './content-store.js';
import { DEFAULT_PACKAGE_LIMITS } from './package-limits.js';

const available: JailLevel[] = [];
for (const name of ['jail (bwrap)', 'jail (unshare)', 'process'] as JailName[]) {
  const level = await tryLevel(name);
  if (typeof level === 'string') process.stderr.write(`skipped: ${name} cannot run here: ${level}\n`);
  else available.push(level);
}
const MB = 1024 * 1024;
const TIME_MS = 60_000;
const MANIFEST: TarEntry = { path: 'package/package.json', content: '{"version":"1.0.0"}' };
const file = (name: string, content = 'x'): TarEntry => ({ path: `package/${name}`, content });
const link = (type: NonNullable<TarEntry['header']>, name = 'link'): TarEntry => ({
  path: `package/${name}`,
  header: type,
});

let folder: string;
let jail: TarballJail | undefined;

beforeEach(async () => {
  folder = tempDir('packages');
  await chmod(folder, 0o711);
  await mkdir(path.join(folder, 'content'));
});
afterEach(async () => {
  await jail?.close();
  jail = undefined;
  removeDir(folder);
});

/** Unpacks into the store of packages as an install does. */
const unpack = async (level: JailLevel, tarball: Buffer, limits: Partial<UnpackLimits> = {}): Promise<UnpackResult> => {
  const { bytes, entries, ratio } = DEFAULT_PACKAGE_LIMITS;
  const name = path.join(folder, 'tarball');
  await writeFile(name, tarball);
  await chmod(name, 0o644);
  const unpacker = (jail = new TarballJail(level));
  let result: UnpackResult | undefined;
  await new ContentStore(path.join(folder, 'content'))
    .add('key', async (sink) => {
      result = await unpacker.unpack(name, { bytes, entries, ratio, ...limits }, 30_000, sink);
      if (result.kind === 'refused') throw new Error('refused');
    })
    .catch((error: unknown) => {
      if (result?.kind !== 'refused') throw error;
    });
  return result ?? { kind: 'refused', reason: 'it was not unpacked' };
};

const place = (): string => path.join(folder, 'content/key/files');

/** Every file of a package, by its path. */
const kept = (root: string): readonly string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();

type Row = [what: string, given: TarEntry[] | (() => Buffer), message: RegExp, limits?: Partial<UnpackLimits>];

const zeros = (bytes: number): Buffer => gzipSync(Buffer.alloc(bytes));

describe.each(available)('hostile tarballs, unpacked in $name', (level) => {
  it.each<Row>([
    ['leaves its folder', [file('../../escaped.js')], /leaves the package/],
    ['leaves its folder by its first part', [{ path: '../escaped.js', content: 'x' }], /leaves the package/],
    ['leaves its folder below a folder of its own', [file('a/../../escaped.js')], /leaves the package/],
    ['has an absolute path', [{ path: '/tmp/escaped.js', content: 'x' }], /leaves the package/],
    ['has an absolute path below its folder', [file('/tmp/escaped.js')], /absolute path/],
    ['has the path of a drive', [file('C:/escaped.js')], /absolute path/],
    ['has a backslash in a path', [file('..\\escaped.js')], /a backslash/],
    ['has a line break in a path', [file('a\nb.js')], /a control character/],
    ['has a name of 256 bytes', [file(`${'n'.repeat(253)}.js`)], /a name of more than 255 bytes/],
    ['has a name of few characters and 256 bytes', [file('é'.repeat(128))], /a name of more than 255 bytes/],
    [
      'has a path of 513 characters',
      [file(`${`${'n'.repeat(171)}/`.repeat(2)}${'m'.repeat(169)}`)],
      /a path of 513 characters, at most 512/,
    ],
    ['has 33 folders', [file(`${'d/'.repeat(32)}f.js`)], /33 folders deep, at most 32/],
    [
      'has more entries than allowed',
      Array.from({ length: 101 }, (_, n) => file(`${n}.js`)),
      /100 entries/,
      { entries: 100 },
    ],
    [
      'has more links than entries are allowed',
      Array.from({ length: 101 }, (_, n) => link({ type: 'SymbolicLink', linkpath: '/etc/passwd' }, `l${n}`)),
      /100 entries/,
      { entries: 100 },
    ],
    ['unpacks to more than allowed', [file('big', 'x'.repeat(2_000))], /more than 1000 bytes/, { bytes: 1_000 }],
    [
      'claims a file of 8 GB',
      [{ path: 'package/huge', content: 'x', header: { size: 8 * 1024 * MB } }],
      /unpacks to more than \d+ bytes/,
    ],
    [
      'unpacks to far more than it has',
      () => tarballOf([file('zeros', '\0'.repeat(40 * MB))]),
      /more than 100 times its \d+ bytes/,
    ],
    [
      'has headers without an entry, which no other limit counts',
      Array.from({ length: 20 }, () => link({ type: 'GlobalExtendedHeader', size: 1_000 })).map((one) => ({
        ...one,
        content: '#'.repeat(1_000),
      })),
      /its archive has more than 9192 bytes/,
      { bytes: 1_000, entries: 2 },
    ],
    ['is compressed twice', () => gzipSync(gzipSync(Buffer.alloc(200 * MB))), /compressed twice/],
    [
      'ends in the middle of a file',
      () => tarballOf([file('a.js', 'x'.repeat(90_000))]).subarray(0, 150),
      /cannot be read/,
    ],
    ['ends in the middle of its archive', () => gzipSync(Buffer.alloc(700, 'package/a.js')), /cannot be read/],
    ['is no archive', () => gzipSync(Buffer.from('no archive '.repeat(500))), /cannot be read/],
    ['is empty', () => Buffer.alloc(0), /cannot be read/],
  ])(
    'refuses a tarball that %s, and keeps nothing of it',
    // Without rest parameters, Jest would pass `done` in place of missing limits.
    async (...[, given, message, limits]: Row) => {
      const tarball = typeof given === 'function' ? given() : tarballOf([MANIFEST, ...given]);
      const result = await unpack(level, tarball, limits);
      expect(result).toEqual({ kind: 'refused', reason: expect.stringMatching(message) });
      expect(readdirSync(folder).sort()).toEqual(['content', 'tarball']);
      expect(readdirSync(path.join(folder, 'content'))).toEqual([]);
      expect(existsSync(path.join(folder, '../escaped.js'))).toBe(false);
      expect(existsSync('/tmp/escaped.js')).toBe(false);
    },
    TIME_MS,
  );

  it(
    'leaves out links and devices, so that no file is written through one',
    async () => {
      const tarball = tarballOf([
        MANIFEST,
        link({ type: 'SymbolicLink', linkpath: '/tmp' }, 'out'),
        file('out/escaped.js'),
        link({ type: 'Link', linkpath: '/etc/passwd' }, 'hard'),
        link({ type: 'CharacterDevice', devmaj: 1, devmin: 3 }, 'device'),
        link({ type: 'BlockDevice', devmaj: 8, devmin: 0 }, 'disk'),
        link({ type: 'FIFO' }, 'pipe'),
        file('node_modules/other/index.js'),
        file('Index.js', 'upper'),
        file('index.js', 'lower'),
        file('__proto__', 'a name'),
      ]);
      expect(await unpack(level, tarball)).toEqual({ kind: 'unpacked' });
      expect(kept(place())).toEqual(['Index.js', '__proto__', 'index.js', 'out/escaped.js', 'package.json']);
      expect(existsSync('/tmp/escaped.js')).toBe(false);
    },
    TIME_MS,
  );

  it(
    'stops at the end of an archive, whatever follows it',
    async () => {
      const startedAt = Date.now();
      const tarball = Buffer.concat([tarballOf([MANIFEST, file('a.js')]), zeros(400 * MB)]);
      expect(await unpack(level, tarball)).toEqual({ kind: 'unpacked' });
      expect(kept(place())).toEqual(['a.js', 'package.json']);
      expect(Date.now() - startedAt).toBeLessThan(20_000);
    },
    TIME_MS,
  );

  it(
    'sets no bit of a file but the one that makes it a program',
    async () => {
      await unpack(level, tarballOf([MANIFEST, { ...file('run'), header: { mode: 0o6777 } }]));
      expect(statSync(path.join(place(), 'run')).mode & 0o7777).toBe(0o755);
    },
    TIME_MS,
  );
});
