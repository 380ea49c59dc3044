import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, type Dirent } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tarballOf } from '#test/harness/npm-registry.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { tryLevel, type JailLevel, type JailName, folderPrefix } from '#libs/sandbox/index.js';
import { PackageStore } from './package-store.js';

const TOKEN = `token-${randomBytes(12).toString('hex')}`;
/** Bytes that do not compress, so that unpacking takes long enough to be looked at. */
const TARBALL = tarballOf([{ path: 'package/data.bin', content: randomBytes(16 * 1024 * 1024) }]);

const available: JailLevel[] = [];
for (const name of ['jail (bwrap)', 'jail (unshare)', 'process'] as JailName[]) {
  const level = await tryLevel(name);
  if (typeof level === 'string') process.stderr.write(`skipped: ${name} cannot run here: ${level}\n`);
  else available.push(level);
}

let server: Server;
let url: string;
let authorized = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end();
    authorized++;
    if (request.url?.endsWith('.tgz') === true) return void response.end(TARBALL);
    const integrity = `sha512-${createHash('sha512').update(TARBALL).digest('base64')}`;
    const dist = { tarball: `${url}/p.tgz`, integrity };
    const versions = { '1.0.0': { name: 'p', version: '1.0.0', dist } };
    response.end(JSON.stringify({ name: 'p', 'dist-tags': { latest: '1.0.0' }, versions }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

/** A file of a process, or nothing when it has ended. */
const read = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
};

/** Arguments and environment of each process that descends from this one, by pid. */
const lookAtDescendants = (seen: Map<number, string>): void => {
  const parents = new Map<number, number>();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const stat = read(pid, 'stat');
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const found = [process.pid];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  for (const pid of found.slice(1))
    seen.set(pid, `${seen.get(pid) ?? ''}\n${read(pid, 'cmdline')}\n${read(pid, 'environ')}`);
};

/** Empty when the folder was removed in the meantime. */
const entriesBelow = (folder: string): readonly Dirent[] => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
};

/** Texts of all small files below a folder, which has the code and the files of a process. */
const filesBelow = (folder: string): string =>
  entriesBelow(folder)
    .filter((entry) => entry.isFile() && !/tarball|data\.bin/.test(entry.name))
    .map((entry) => {
      try {
        return readFileSync(path.join(entry.parentPath, entry.name), 'latin1');
      } catch {
        return '';
      }
    })
    .join('\n');

describe.each(available)('the token of a registry, in $name', (level) => {
  it('is in no argument, environment or file of the processes that fetch and unpack', async () => {
    const folder = tempDir('packages');
    const registries = [{ scope: null, url, token: TOKEN, tarballHosts: [] }];
    const store = new PackageStore({ folder, level, registries });
    const seen = new Map<number, string>();
    const files = new Set<string>();
    const look = setInterval(() => {
      lookAtDescendants(seen);
      for (const name of readdirSync(tmpdir()))
        if (name.startsWith(folderPrefix('jail'))) files.add(filesBelow(path.join(tmpdir(), name)));
    }, 100);
    try {
      await store.install({ specifiers: ['p'], workspaceId: 'o_1' });
      expect(authorized).toBeGreaterThan(1);
      const texts = [...seen.values()];
      expect(texts.some((text) => text.includes('fetcher.cjs'))).toBe(true);
      expect(texts.filter((text) => !text.includes('fetcher.cjs')).length).toBeGreaterThan(0);
      expect([...files].some((text) => text.includes('use strict'))).toBe(true);
      expect([...texts, ...files].join('\n')).not.toContain(TOKEN);
    } finally {
      clearInterval(look);
      await store.close();
      removeDir(folder);
    }
  }, 60_000);
});
