import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { type Paged, type Source } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';

// The port changes with each start, but the output must not.
const instance = useStandalone({ env: { SLUICE_PUBLIC_URL: 'https://sluice.example' } });
const { api, server } = instance;
const run = promisify(execFile);

const inFolder = async (dataDir: string, ...args: string[]): Promise<string> => {
  const env = { ...process.env, SLUICE_DATA_DIR: dataDir };
  const { stdout } = await run(process.execPath, ['dist/apps/cli/src/main.js', ...args], { env });
  return stdout;
};
const sluice = (...args: string[]): Promise<string> => inFolder(server.dataDir, ...args);

/** The number is that of the check of the command line. */
describe('64: the commands of operators', () => {
  it('rebuilds every read model from the logs, and reports its speed', async () => {
    const kept = await instance.deploy(relayCode(), {}, 'kept');
    const gone = await instance.deploy(relayCode(), {}, 'gone');
    const webhook = await instance.listen(kept.id);
    for (let n = 0; n < 5; n++) await instance.post(kept, { n });
    const events = await instance.history(kept, 5);
    await api.expect(202, 'DELETE', `/v1/sources/${kept.id}/events`, {
      query: { start_id: events[0]?.id ?? '', end_id: events[1]?.id ?? '' },
    });
    await api.deleteSource(gone.id);
    await instance.receiver.until('all deliveries', () => instance.arrived(webhook).length >= 5);
    const paths = [
      '/v1/users/me/sources',
      '/v1/users/me/subscriptions',
      '/v1/users/me/webhooks',
      `/v1/components/${kept.component_id}?exclude=code`,
      `/v1/sources/${kept.id}/event_summaries?expand=event`,
      `/v1/webhooks/${webhook}/deliveries`,
    ];
    const before = await Promise.all(paths.map((path) => api.call('GET', path)));
    expect((before[4]?.body as Paged<unknown>).page_info.total_count).toBe(3);
    await server.stop();

    // The old read models were removed, too.
    for (const end of ['', '-wal', '-shm']) rmSync(join(server.dataDir, `read.db${end}`), { force: true });
    const told = await sluice('rebuild');
    expect(told).toMatch(/sources\.sources\.v3 +\d+ events .* events\/s/);
    expect(told).toMatch(/events\.summaries\.v2 +[1-9]\d* events/);
    expect(told).toMatch(/19 read models +[1-9]\d* events/);

    await server.start();
    const after = await Promise.all(paths.map((path) => api.call('GET', path)));
    expect(after.map(({ status, body }) => ({ status, body }))).toEqual(
      before.map(({ status, body }) => ({ status, body })),
    );
    expect((await api.expect<Paged<Source>>(200, 'GET', '/v1/users/me/sources')).data.map(({ id }) => id)).toEqual([
      kept.id,
    ]);
  });

  it('refuses a data directory in use by a server, naming its pid', async () => {
    await expect(sluice('rebuild')).rejects.toThrow(new RegExp(`${server.pid}`));
  });

  it('adds a user with a separate workspace and key, who sees no data of others', async () => {
    await server.stop();
    const told = await sluice('user', 'ada', '--email', 'ada@example.com');
    const key = /API key, shown this once: (\S+)/.exec(told)?.[1] ?? '';
    await server.start();
    const sources = await api.expect<Paged<Source>>(200, 'GET', '/v1/users/me/sources', { key });
    expect(sources.page_info.total_count).toBe(0);
    const mine = await api.expect<Paged<Source>>(200, 'GET', '/v1/users/me/sources');
    expect((await api.call('GET', `/v1/sources/${mine.data[0]?.id}`, { key })).status).toBe(404);
  });

  it('tells its version', async () => {
    expect((await sluice('--version')).trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('ends quietly when its reader closes the pipe', async () => {
    const cli = `${process.execPath} dist/apps/cli/src/main.js config --reference`;
    const { stdout, stderr } = await run('bash', ['-c', `${cli} | head -n 1; echo "status \${PIPESTATUS[0]}"`]);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/status 0\n$/);
  });

  it.each([['rebuild'], ['export', '--out', '/nonexistent/archive'], ['user', 'eve', '--email', 'eve@example.com']])(
    'refuses a folder without an installation and leaves it empty: %s',
    async (...args) => {
      const folder = mkdtempSync(join(server.dataDir, '..', 'empty-'));
      try {
        await expect(inFolder(folder, ...args)).rejects.toThrow(/SLUICE_DATA_DIR: .* holds no installation/);
        expect(readdirSync(folder)).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  it('makes an installation for a user only with --create', async () => {
    const folder = mkdtempSync(join(server.dataDir, '..', 'new-'));
    try {
      const args = ['user', 'eve', '--email', 'eve@example.com'];
      expect(await inFolder(folder, ...args, '--create')).toMatch(/API key, shown this once/);
      expect(await inFolder(folder, ...args)).toMatch(/exists already/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('lists the effective settings without secrets', async () => {
    const told = await sluice('config');
    expect(told).toContain(`SLUICE_DATA_DIR=${server.dataDir}`);
    expect(told).toContain('SLUICE_PORT=3000  (default)');
  });
});
