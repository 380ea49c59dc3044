import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Paged } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

// The port changes with each start, but the answers must not.
const instance = useStandalone({ env: { SLUICE_PUBLIC_URL: 'https://sluice.example' } });
const { server, api } = instance;
let folder: string | undefined;

afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});

/** Starts a server that must fail, and returns its output. */
const failedStart = (env: Record<string, string>): string => {
  const started = spawnSync(process.execPath, ['dist/apps/standalone/src/main.js'], {
    env: { PATH: process.env.PATH ?? '', SLUICE_PORT: '0', ...env },
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect(started.status).toBe(1);
  expect(started.stderr).not.toContain('    at ');
  return started.stderr;
};

const remove = (dataDir: string, file: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(join(dataDir, `${file}${end}`), { force: true });
};

interface Reply {
  readonly status: number;
  readonly body: Paged<unknown>;
}
const attemptsIn = (replies: readonly Reply[]): number => replies.at(-1)?.body.page_info.total_count ?? 0;

describe('an installation whose read models are lost', () => {
  it.each([
    ['missing', undefined],
    ['overwritten', 'nothing that a database would hold'],
  ])('starts with the same answers when read.db is %s', async (_what, content) => {
    const source = await instance.deploy(relayCode());
    const webhook = await instance.listen(source.id);
    for (let n = 0; n < 5; n++) await instance.post(source, { n });
    await instance.history(source, 5);
    await instance.receiver.until('all deliveries', () => instance.arrived(webhook).length >= 5);
    const paths = [
      '/v1/users/me/sources',
      `/v1/sources/${source.id}/event_summaries?expand=event`,
      `/v1/webhooks/${webhook}/deliveries`,
    ];
    const read = async (): Promise<readonly Reply[]> => {
      const replies = await Promise.all(paths.map((path) => api.call<Paged<unknown>>('GET', path)));
      return replies.map(({ status, body }) => ({ status, body }));
    };
    const before = await eventually('all that will be compared', async () => {
      const replies = await read();
      return replies.every(({ body }) => body.page_info.total_count > 0) && attemptsIn(replies) === 5
        ? replies
        : undefined;
    });
    await server.stop();
    remove(server.dataDir, 'read.db');
    if (content !== undefined) writeFileSync(join(server.dataDir, 'read.db'), content);
    await server.start();
    expect(await read()).toEqual(before);
    expect(server.lastOutput).toContain('read_models.rebuilt');
    expect(existsSync(join(server.dataDir, 'read-models.lost'))).toBe(false);
  });
});

describe('a server that cannot start', () => {
  it.each(['events.db', 'data.db'])('names %s when it is missing, and starts no empty installation', async (file) => {
    await server.stop();
    try {
      folder = mkdtempSync(join(server.dataDir, '..', 'damaged-'));
      cpSync(server.dataDir, folder, { recursive: true });
      remove(folder, file);
      expect(failedStart({ SLUICE_DATA_DIR: folder })).toMatch(
        new RegExp(`sluice cannot start: .* is damaged: ${file} is missing.*backup`),
      );
      expect(existsSync(join(folder, file))).toBe(false);
    } finally {
      await server.start();
    }
  });

  it('names the data directory of another program, and writes nothing there', () => {
    folder = mkdtempSync(join(server.dataDir, '..', 'foreign-'));
    writeFileSync(join(folder, 'photos.txt'), 'mine');
    expect(failedStart({ SLUICE_DATA_DIR: folder })).toMatch(/SLUICE_DATA_DIR: .* holds photos\.txt and nothing of/);
    expect(readdirSync(folder)).toEqual(['photos.txt']);
  });

  it('names the setting of a used port, an address of another machine, and the engine', async () => {
    folder = mkdtempSync(join(server.dataDir, '..', 'settings-'));
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      const inUse = failedStart({ SLUICE_DATA_DIR: folder, SLUICE_PORT: String(port) });
      expect(inUse).toMatch(new RegExp(`127\\.0\\.0\\.1:${port} is in use .*SLUICE_PORT`));
      const unknown = failedStart({ SLUICE_DATA_DIR: folder, SLUICE_HOST: '192.0.2.1' });
      expect(unknown).toMatch(/SLUICE_HOST: 192\.0\.2\.1 is no address of this machine/);
    } finally {
      taken.close();
    }
    const distributed = failedStart({ SLUICE_DATA_DIR: folder, SLUICE_ENGINE: 'distributed' });
    expect(distributed).toMatch(/SLUICE_ENGINE is "distributed", .* unset it, or start one process a role/);
    expect(distributed).not.toContain('SLUICE_MONGO_URL');
  });
});
