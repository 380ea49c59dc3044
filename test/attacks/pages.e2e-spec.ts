import { describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const MB = 1024 * 1024;

/** One process: the test server for MongoDB takes minutes to read pages of megabytes. */
describe('a list of many events of megabytes', () => {
  const instance = useStandalone({ env: { SLUICE_PAGE_MB: '8', SLUICE_SOURCE_EVENTS_MB: '1024' } });
  const SIZE = 2 * MB;
  const COUNT = 60;
  const heavy = componentCode({
    members: `run({ body }) { this.$emit({ n: body.n, text: 'x'.repeat(${SIZE}) }); },`,
  });

  /** Size of a page of whole events. It is not parsed, because that would delay the neighbour's client. */
  const bytesOf = async (path: string): Promise<number> => {
    const headers = { authorization: `Bearer ${instance.server.apiKey}` };
    const { statusCode, body } = await request(`${instance.server.url}${path}`, { headers });
    expect(statusCode).toBe(200);
    let bytes = 0;
    for await (const part of body) bytes += (part as Buffer).length;
    return bytes;
  };

  it('is short with shortened events, ends early with whole ones, and others are served meanwhile', async () => {
    const source = await instance.deploy(heavy);
    for (let n = 0; n < COUNT; n++) expect((await instance.post(source, { n })).status).toBe(200);
    await eventually(
      'all events',
      async () => {
        const { page_info } = await instance.api.summaries(source.id, { limit: '1' });
        return page_info.total_count >= COUNT ? true : undefined;
      },
      60_000,
    );
    const path = `/v1/sources/${source.id}/event_summaries`;

    // Shortened: all events, about 1 KB each.
    const short = await instance.api.call('GET', path, { query: { limit: '100' } });
    expect(short.status).toBe(200);
    expect(short.text.length).toBeLessThan(COUNT * 2_000);

    // Whole: many requests at once, with neighbours in between.
    const neighbour = await instance.deploy(relayCode());
    let running = true;
    let answered = 0;
    const whole = [`${path}?limit=100&expand=event`, `/v1/sources/${source.id}/events?limit=100`];
    const attack = Promise.all(Array.from({ length: 20 }, (_, n) => bytesOf(whole[n % 2]!))).finally(
      () => (running = false),
    );
    while (running) {
      expect((await instance.post(neighbour, { n: answered })).status).toBe(200);
      answered++;
    }
    for (const bytes of await attack) {
      expect(bytes).toBeGreaterThan(SIZE);
      expect(bytes).toBeLessThan(8 * MB + 10_000);
      // Control: size of a page of all events.
      expect(bytes).toBeLessThan((COUNT * SIZE) / 5);
    }
    // Requests were served one after another, so the pages were built in several turns of the event loop.
    expect(answered).toBeGreaterThanOrEqual(3);

    // The cursors reach every event once.
    const seen: unknown[] = [];
    for (let after: string | null = ''; after !== null;) {
      const query: Record<string, string> = { limit: '100', expand: 'event', ...(after === '' ? {} : { after }) };
      const { data, page_info } = await instance.api.summaries(source.id, query);
      expect(data).toHaveLength(page_info.count);
      for (const { event } of data) seen.push((event as { n: number }).n);
      after = page_info.end_cursor;
    }
    expect(seen).toHaveLength(COUNT);
    expect(new Set(seen).size).toBe(COUNT);
  }, 120_000);
});
