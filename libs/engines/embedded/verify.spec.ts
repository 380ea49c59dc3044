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
import { checkedDatabases, damagedBlobs } from './verify.js';

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

const listed = async (items: AsyncIterable<string>): Promise<string[]> => {
  const all: string[] = [];
  for await (const item of items) all.push(item);
  return all;
};

describe('the check of a data directory', () => {
  it('finds nothing in a whole one, and names each damaged file', async () => {
    const engines = await openEngines(dir);
    const hash = await engines.blobs.put('export default {}');
    expect(await listed(damagedBlobs(engines.blobs))).toEqual([]);
    writeFileSync(await engines.blobs.fileOf(hash), 'export default 1');
    expect(await listed(damagedBlobs(engines.blobs))).toEqual([hash]);
    await engines.close();
    expect([...checkedDatabases(dir)]).toEqual(
      ['events.db', 'data.db', 'read.db'].map((name) => ({ name, faults: [] })),
    );
    damage(join(dir, 'data.db'));
    rmSync(join(dir, 'read.db'));
    const found = [...checkedDatabases(dir)];
    expect(found.map(({ name, faults }) => [name, faults.length > 0])).toEqual([
      ['events.db', false],
      ['data.db', true],
      ['read.db', true],
    ]);
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
    await expect(open()).rejects.toThrow(/data\.db is damaged .*: stop the server before you copy/);
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
