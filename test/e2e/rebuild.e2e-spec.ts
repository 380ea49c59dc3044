import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { componentCode, emitterCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';
import { eventually } from '#test/harness/wait.js';

describe('sluice rebuild', () => {
  const instance = useStandalone();
  const { api, server } = instance;

  it('rebuilds every read model from the logs, the same as before, and reports its speed', async () => {
    const source = await instance.deploy(emitterCode(), {}, 'Kept');
    const gone = await instance.deploy(emitterCode(), {}, 'Gone');
    const waiting = await instance.deploy(
      componentCode({
        members: `hooks: { deploy() {
          for (let n = 0; n < 120; n++) this.$emit({ n }, { delivery_ts: Date.now() + 3_600_000 });
        } },`,
      }),
    );
    const webhook = await instance.listen(source.id);
    await instance.post(source, [['a'], ['b', { name: 'named' }], ['c']]);
    const [first] = await instance.history(source, 2);
    await api.expect(202, 'DELETE', `/v1/sources/${source.id}/events`, {
      query: { start_id: first?.id ?? '', end_id: first?.id ?? '' },
    });
    await api.deleteSource(gone.id);
    await instance.receiver.until('both deliveries', () => instance.arrived(webhook).length === 2);
    const paths = [
      '/v1/users/me/sources',
      '/v1/users/me/webhooks',
      '/v1/users/me/subscriptions',
      `/v1/components/${source.component_id}`,
      `/v1/sources/${source.id}/event_summaries`,
      `/v1/sources/${source.id}/event_summaries?event_name=named`,
      `/v1/sources/${waiting.id}/event_summaries?event_name=$in&limit=100`,
      `/v1/webhooks/${webhook}/deliveries`,
      `/v1/audit/${source.id}`,
    ];
    // The port changes with each start.
    const read = async (): Promise<unknown> =>
      Promise.all(
        paths.map(async (path) => [path, (await api.call('GET', path)).text.replaceAll(server.url, 'http://server')]),
      );
    await eventually('the events that wait', async () => {
      const { page_info } = await api.summaries(waiting.id, { event_name: '$in' });
      return page_info.total_count === 120 ? true : undefined;
    });
    await server.restart();
    const before = await read();
    await server.stop();

    const env = { PATH: process.env.PATH, SLUICE_DATA_DIR: server.dataDir };
    const cli = join(ROOT, 'dist/apps/cli/src/main.js');
    const { stdout } = await promisify(execFile)(process.execPath, [cli, 'rebuild'], { env, cwd: server.dataDir });
    expect(stdout).toMatch(/[\d,.]+ events(\/s| (a|per) second)/);

    await server.start();
    expect(await read()).toEqual(before);
    await instance.post(source, [['d']]);
    expect((await instance.payloads(source, 2)).at(-1)).toBe('d');
  }, 90_000);
});
