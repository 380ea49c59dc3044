import { spawnSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { relayCode } from '#test/harness/component-code.js';
import { jsonOf, send } from '#test/harness/http.js';
import { useStandalone } from '#test/harness/instance.js';
import { type Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';

const MB = 1024 * 1024;

/** A small disk needs a mount, in the server's own namespace. */
const mayMount = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
const onSmallDisk = mayMount ? describe : describe.skip;

/** Writes a file that leaves this many bytes free, as another program on the same disk could. */
const fill = (server: Server, leave: number): (() => void) => {
  const dir = server.seenDataDir();
  const path = join(dir, 'filler');
  const file = openSync(path, 'w');
  const part = Buffer.alloc(MB);
  const free = (): number => statfsSync(dir).bavail * statfsSync(dir).bsize;
  try {
    while (free() > leave) writeSync(file, part, 0, Math.min(MB, free() - leave));
    fdatasyncSync(file);
  } catch (error) {
    if (leave > 0 || !String(error).includes('ENOSPC')) throw error;
  } finally {
    closeSync(file);
  }
  return () => rmSync(path);
};

const readiness = async (server: Server): Promise<{ status: number; disk: string }> => {
  const answer = await send(`${server.url}/readyz`, { method: 'GET' });
  const { checks } = jsonOf(answer) as { checks: Record<string, string> };
  return { status: answer.status, disk: checks['disk'] ?? 'missing' };
};

/** Posts until the wanted status. Returns the number of accepted posts before it. */
const postUntil = async (post: () => Promise<number>, wanted: number): Promise<number> => {
  let accepted = 0;
  await eventually(`an answer ${wanted}`, async () => {
    const status = await post();
    if (status === 200) accepted++;
    else expect(status).toBe(503);
    return status === wanted ? true : undefined;
  });
  return accepted;
};

onSmallDisk(mayMount ? 'a full disk' : 'a full disk (not tested: this user may not mount a small one)', () => {
  const floor = useStandalone({ diskMb: 250 });
  const none = useStandalone({ diskMb: 120, env: { SLUICE_DISK_FLOOR_MB: '1' } });

  it.each([
    ['below the floor, with room left for the engine', floor, 30 * MB],
    ['with no byte left', none, 0],
  ])(
    '%s refuses what adds, serves reads, and goes on by itself without losing anything',
    async (_name, instance, leave) => {
      const { api, server } = instance;
      const source = await instance.deploy(relayCode());
      const doomed = await instance.deploy(relayCode());
      let accepted = 0;
      const post = async (): Promise<number> => {
        const { status, headers } = await instance.post(source, { n: accepted, pad: 'x'.repeat(20_000) });
        if (status === 503) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
        return status;
      };
      for (let n = 0; n < 5; n++) accepted += await postUntil(post, 200);
      expect(await readiness(server)).toEqual({ status: 200, disk: 'ok' });

      const makeRoom = fill(server, leave);
      accepted += await postUntil(post, 503);
      await eventually('not ready', async () => ((await readiness(server)).status === 503 ? true : undefined));
      expect((await readiness(server)).disk).toMatch(/^disk full: \d+ MB are free/);
      expect((await readiness(server)).disk).not.toContain(server.dataDir);
      const change = await api.call('POST', '/v1/sources', { body: { component_code: relayCode() } });
      expect([change.status, change.body]).toEqual([503, expect.objectContaining({ code: 'storage_full' })]);
      expect((await api.call('GET', `/v1/sources/${source.id}`)).status).toBe(200);
      for (let n = 0; n < 20; n++) expect(await post()).toBe(503);

      makeRoom();
      accepted += await postUntil(post, 200);
      await eventually('ready', async () => ((await readiness(server)).status === 200 ? true : undefined));
      expect((await api.call('DELETE', `/v1/sources/${doomed.id}`)).status).toBe(204);
      await eventually('every accepted event', async () => {
        const { page_info } = await api.summaries(source.id, { limit: '1' });
        return page_info.total_count === accepted ? true : undefined;
      });
      expect(server.isRunning).toBe(true);
    },
    60_000,
  );
});
