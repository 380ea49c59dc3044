import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEngines } from './testing/open-engines.js';
import { checkBeforeOpening } from './place.js';
import { checkedDirectory } from './verify.js';

const PAGE = 4_096;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-verify-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** Overwrites pages from the third on, as a failing disk does. */
const damage = (at: string): void => {
  const file = openSync(at, 'r+');
  const pages = Math.floor(statSync(at).size / PAGE);
  for (let page = 2; page < pages; page++) writeSync(file, Buffer.alloc(64, 0xff), 0, 64, page * PAGE);
  closeSync(file);
};
/** Leaves the write-ahead logs full, as a copy of a directory in use does. */
const copyInUse = async (copy: string): Promise<void> => {
  await (await openEngines(dir)).close();
  const engines = await openEngines(dir);
  await engines.vault.put('sec_1', 'o_1', 'secret');
  cpSync(dir, copy, { recursive: true });
  await engines.close();
  rmSync(join(copy, 'owner'), { force: true });
};

const KEYS = () => ({ secretKey: Buffer.alloc(32, 1) });
const checked = async (dataDir = dir, keys = KEYS): Promise<Record<string, readonly string[] | number>> => {
  const parts: Record<string, readonly string[] | number> = {};
  for await (const { name, whole, faults } of checkedDirectory(dataDir, keys))
    parts[name] = faults.length > 0 ? faults : whole;
  return parts;
};
const WHOLE = { 'events.db': 1, 'data.db': 1, 'read.db': 1, blobs: 1, secrets: 1 };

/** Every file below the folder, with its content and the time of its last change. */
const snapshot = (folder: string): unknown =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => [name, statSync(join(folder, name))] as const)
    .map(([name, { mtimeMs, size, mode }]) => [name, mtimeMs, size, mode]);

describe('the check of a data directory', () => {
  let hash: string;
  let blob: string;
  beforeEach(async () => {
    const engines = await openEngines(dir);
    hash = await engines.blobs.put('export default {}');
    blob = await engines.blobs.fileOf(hash);
    await engines.vault.put('sec_1', 'o_1', 'secret');
    await engines.close();
  });

  it('finds nothing in a whole one and changes nothing, also where a server has not closed it', async () => {
    const before = snapshot(dir);
    expect(await checked()).toEqual(WHOLE);
    expect(snapshot(dir)).toEqual(before);
    const copy = `${dir}-copy`;
    try {
      await copyInUse(copy);
      rmSync(join(copy, 'data.db-shm'));
      const copied = snapshot(copy);
      expect(await checked(copy)).toEqual(WHOLE);
      expect((snapshot(copy) as [string][]).map(([name]) => name)).toEqual(
        (copied as [string][]).map(([name]) => name),
      );
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });

  it('names each damaged file, blob and secret', async () => {
    writeFileSync(blob, 'export default 1');
    expect(await checked()).toEqual({ ...WHOLE, blobs: [`${hash} has other content than its name says`] });
    expect(await checked(dir, () => ({ secretKey: Buffer.alloc(32, 9) }))).toMatchObject({
      secrets: [expect.stringMatching(/^secret sec_1 cannot be decrypted/)],
    });
    damage(join(dir, 'data.db'));
    rmSync(join(dir, 'read.db'));
    expect(await checked()).toEqual({
      'events.db': 1,
      'data.db': expect.arrayContaining([expect.any(String)]),
      'read.db': ['it is missing'],
      blobs: [expect.stringContaining(hash)],
    });
  });

  it('is refused for a folder without an installation, and while a server uses it', async () => {
    await expect(checked(join(dir, 'blobs'))).rejects.toThrow(/holds no installation/);
    const engines = await openEngines(dir);
    await expect(checked()).rejects.toThrow(/is in use by the process/);
    await engines.close();
    expect(await checked()).toEqual(WHOLE);
  });
});

describe('a data directory that was copied while a server used it', () => {
  let copy: string;
  let warnings: string[];
  const open = async (): Promise<void> => {
    const engines = await openEngines(copy, { onWarning: (text) => warnings.push(text) });
    await engines.close();
  };
  beforeEach(async () => {
    copy = `${dir}-copy`;
    warnings = [];
    await copyInUse(copy);
  });
  afterEach(() => {
    rmSync(copy, { recursive: true, force: true });
  });

  it('is checked at its first start, and not again', async () => {
    await open();
    expect(warnings).toEqual([expect.stringContaining('its databases are checked first')]);
    await open();
    expect(warnings).toHaveLength(1);
  });

  it('is refused when it is torn, with what to do, and stays as it is', async () => {
    damage(join(copy, 'data.db'));
    const before = readdirSync(copy).sort();
    await expect(open()).rejects.toThrow(/data\.db is damaged [^]*: stop the server before you copy/);
    await expect(open()).rejects.toThrow(/data\.db is damaged/);
    expect(readdirSync(copy).filter((name) => !before.includes(name) && name !== 'owner')).toEqual([]);
    expect(existsSync(join(copy, 'data.db'))).toBe(true);
  });

  it('is not read when it was closed in order, or is where it was', async () => {
    rmSync(copy, { recursive: true });
    cpSync(dir, copy, { recursive: true });
    await open();
    expect(warnings).toEqual([]);
  });
});

describe('a database that is damaged', () => {
  beforeEach(async () => {
    const engines = await openEngines(dir);
    await engines.vault.put('sec_1', 'o_1', 'secret');
    await engines.close();
  });

  it('while no server uses it refuses the start, with what to do', async () => {
    damage(join(dir, 'data.db'));
    await expect(openEngines(dir)).rejects.toThrow(/data\.db is damaged \(.*\): put the data directory back/s);
    await expect(openEngines(dir)).rejects.toThrow(/data\.db is damaged/);
  });

  // docs/reference/rest-api.md#start-check
  it('of a medium size refuses the start too, and a large one is not read', () => {
    damage(join(dir, 'data.db'));
    const start = (pages: number) => () => checkBeforeOpening(dir, () => undefined, { full: 0, pages });
    expect(start(256 << 20)).toThrow(/data\.db is damaged \(.*\): put the data directory back/s);
    expect(start(0)).not.toThrow();
  });

  it('while a server uses it is named once it is read', async () => {
    const engines = await openEngines(dir, { onFatal: () => undefined });
    expect(engines.damage()).toBeUndefined();
    damage(join(dir, 'data.db'));
    await expect(engines.vault.get('sec_1', 'o_1')).rejects.toThrow();
    expect(engines.damage()).toMatch(/data\.db is damaged .*put the data directory back/);
    await engines.close();
  });
});
