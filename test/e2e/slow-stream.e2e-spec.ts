import { describe, expect, it } from '@jest/globals';
import { emitterCode } from '#test/harness/component-code.js';
import { EventSource } from '#test/harness/event-source.js';
import { useStandalone } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

// Without a proxy, which would read in place of the client.
const instance = useStandalone();

// docs/reference/rest-api.md#stream-end
describe('the stream of a source', () => {
  // docs/reference/rest-api.md#stream-end
  it('drops a reader that does not read, and no other', async () => {
    const source = await instance.deploy(emitterCode());
    const open = (): Promise<EventSource> =>
      EventSource.open(`${instance.server.url}/v1/sources/${source.id}/sse`, instance.server.apiKey);
    const [stuck, well] = [await open(), await open()];
    stuck.pause();
    for (let n = 0; n < 40; n++) {
      await instance.post(source, [[{ n, text: 'x'.repeat(400_000) }]]);
      await well.until(n + 1);
    }
    await eventually(
      'the end of the stream that is not read',
      async () => {
        const { text } = await instance.api.call('GET', '/metrics', { key: null });
        return text.includes('sluice_streams_ended_total{why="too slow"} 1') ? true : undefined;
      },
      60_000,
    );
    stuck.resume();
    await stuck.untilEnded();
    expect(stuck.events.length).toBeLessThan(40);
    expect(well.ended).toBe(false);
    well.close();
  }, 120_000);
});
