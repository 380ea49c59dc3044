import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { systemClock } from '#libs/kernel/clock.js';
import { type EventMetadata } from '#libs/kernel/events.js';
import { inspectDataDirectory, readModelsRestored } from './data-directory.js';
import { openEmbedded } from './index.js';

let dir: string;
let warnings: string[];
const inspect = () => inspectDataDirectory(dir, (text) => warnings.push(text));

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'data-directory-'));
  warnings = [];
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** Starts engines once, as the first start of a server does. */
let starts = 0;
const started = async ({ withEvent = true } = {}): Promise<void> => {
  const engines = await openEmbedded({
    dataDir: dir,
    secretKey: Buffer.alloc(32),
    clock: systemClock,
    onFatal: (error) => {
      throw error;
    },
  });
  const event = { id: randomUUID(), type: 'UserCreated', data: {}, metadata: {} as EventMetadata };
  if (withEvent) await engines.events.append(`user-u_${starts++}`, [event], 'no_stream');
  await engines.close();
};
const remove = (file: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(join(dir, `${file}${end}`), { recursive: true, force: true });
};

describe('a data directory', () => {
  it('may be missing or empty, and holds no installation then', () => {
    expect(inspect()).toEqual({ isInstallation: false, lacksReadModels: false });
    rmSync(dir, { recursive: true });
    expect(inspect()).toEqual({ isInstallation: false, lacksReadModels: false });
    expect(existsSync(dir)).toBe(false);
  });

  it('may hold a key that was put there before the first start, and hidden files', () => {
    writeFileSync(join(dir, 'secret.key'), 'x');
    writeFileSync(join(dir, '.gitkeep'), '');
    expect(inspect()).toEqual({ isInstallation: false, lacksReadModels: false });
  });

  it('holds an installation once a server has started there, and is not changed by the look', async () => {
    await started();
    const before = readdirSync(dir);
    expect(inspect()).toEqual({ isInstallation: true, lacksReadModels: false });
    expect(warnings).toEqual([]);
    expect(readdirSync(dir)).toEqual(before);
  });

  it('is refused when it belongs to another program, and is left as it was', () => {
    for (const name of ['PG_VERSION', 'base', 'global', 'pg_wal']) writeFileSync(join(dir, name), '');
    expect(inspect).toThrow(UnusableDataDirectory);
    expect(inspect).toThrow(/SLUICE_DATA_DIR: .* holds PG_VERSION, base, global and 1 more and nothing of Sluice's/);
    expect(readdirSync(dir).sort()).toEqual(['PG_VERSION', 'base', 'global', 'pg_wal']);
  });

  it('is an empty one when it holds the registry alone, which an operator may fill before the first start', () => {
    mkdirSync(join(dir, 'registry'));
    expect(inspect()).toEqual({ isInstallation: false, lacksReadModels: false });
  });

  it.each(['events.db', 'data.db', 'blobs'])('is refused when %s is lost, with the way back', async (file) => {
    await started();
    remove(file);
    expect(inspect).toThrow(new RegExp(`is damaged: ${file} is missing, which holds .*from a backup`));
    expect(existsSync(join(dir, file))).toBe(false);
  });

  it('is not taken for a new one when events.db is empty', async () => {
    await started();
    remove('events.db-wal');
    truncateSync(join(dir, 'events.db'));
    expect(inspect).toThrow(/events.db is missing/);
  });

  it.each(['events.db', 'data.db'])('is refused when %s was overwritten, with its name', async (file) => {
    await started();
    remove(file);
    writeFileSync(join(dir, file), 'something else altogether');
    expect(inspect).toThrow(new RegExp(`${file} is not a database any more`));
  });

  it.each([
    ['a missing read.db', undefined],
    ['an overwritten read.db', 'something else altogether'],
    ['a read.db cut off within its header', 'SQLite'],
  ])('is used with %s, and its read models are rebuilt', async (_what, content) => {
    await started();
    remove('read.db');
    if (content !== undefined) writeFileSync(join(dir, 'read.db'), content);
    expect(inspect()).toEqual({ isInstallation: true, lacksReadModels: true });
    expect(existsSync(join(dir, 'read.db'))).toBe(false);
    expect(existsSync(join(dir, 'read.db.damaged'))).toBe(content !== undefined);
    expect(warnings).toHaveLength(content === undefined ? 0 : 1);
    // The engines make a new, empty read.db. A rebuild that is interrupted then must start again.
    await started();
    expect(existsSync(join(dir, 'read.db'))).toBe(true);
    expect(inspect()).toEqual({ isInstallation: true, lacksReadModels: true });
    readModelsRestored(dir);
    expect(inspect()).toEqual({ isInstallation: true, lacksReadModels: false });
  });

  it('may be interrupted in its first start, and is started again', async () => {
    await started({ withEvent: false });
    remove('data.db');
    remove('blobs');
    expect(inspect()).toEqual({ isInstallation: false, lacksReadModels: false });
    mkdirSync(join(dir, 'blobs'));
    await started();
    expect(inspect()).toMatchObject({ isInstallation: true });
  });
});
