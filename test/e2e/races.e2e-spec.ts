import { describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;

/** Posts ids one after the other from several clients until told to stop. Returns the ids by status of the answer. */
const postWhile = async (source: Source, during: () => Promise<unknown>): Promise<Map<number, number[]>> => {
  const answered = new Map<number, number[]>();
  let next = 0;
  let stop = false;
  const client = async (): Promise<void> => {
    while (!stop) {
      const id = next++;
      const { status } = await instance.post(source, { id });
      answered.set(status, [...(answered.get(status) ?? []), id]);
    }
  };
  const clients = [client(), client(), client(), client()];
  await during().finally(() => (stop = true));
  await Promise.all(clients);
  return answered;
};

describe('concurrently', () => {
  it('sources of one name get distinct slugs', async () => {
    const { id: component_id } = await api.createComponent(relayCode());
    const made = await Promise.all(Array.from({ length: 12 }, () => api.createSource({ component_id, name: 'Twin' })));
    expect(new Set(made.map(({ name_slug }) => name_slug)).size).toBe(12);
    for (const { name_slug } of made) expect(name_slug).toMatch(/^twin(-\d+)?$/);
  });

  it('events arrive and the code changes: each is run once, by the old or the new', async () => {
    const version = (v: number): string =>
      componentCode({ members: `run(event) { this.$emit({ id: event.body.id, v: ${v} }); },` });
    const source = await instance.deploy(version(0));
    const webhook = await instance.listen(source.id);
    const answered = await postWhile(source, async () => {
      for (const v of [1, 2, 3]) {
        await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { component_code: version(v) } });
      }
    });
    expect([...answered.keys()]).toEqual([200]);
    const sent = answered.get(200) ?? [];
    await instance.receiver.until('all of them', () => instance.arrived(webhook).length >= sent.length);
    const arrived = instance.arrived(webhook) as { id: number; v: number }[];
    expect(arrived.map(({ id }) => id).sort((a, b) => a - b)).toEqual([...sent].sort((a, b) => a - b));
    await instance.post(source, { id: -1 });
    await instance.receiver.until('one more', () => instance.arrived(webhook).length > sent.length);
    expect(instance.arrived(webhook).at(-1)).toEqual({ id: -1, v: 3 });
  }, 60_000);

  it('events arrive and the source is deleted: 200 before, 404 after, no other answer', async () => {
    const source = await instance.deploy(relayCode());
    const answered = await postWhile(source, async () => {
      await instance.history(source, 5);
      await api.deleteSource(source.id);
    });
    expect([...answered.keys()].filter((status) => status !== 200 && status !== 404)).toEqual([]);
    expect((await instance.post(source, {})).status).toBe(404);
    expect((await api.call('GET', `/v1/sources/${source.id}/event_summaries`)).status).toBe(404);
  });

  it('a webhook is deleted in the middle of its deliveries, and its neighbour gets everything', async () => {
    const source = await instance.deploy(relayCode());
    const [doomed, neighbour] = [await instance.listen(source.id), await instance.listen(source.id)];
    const answered = await postWhile(source, async () => {
      await instance.receiver.until('some', () => instance.arrived(doomed).length > 5);
      await api.expect(204, 'DELETE', `/v1/webhooks/${doomed}`);
    });
    const sent = answered.get(200) ?? [];
    await instance.receiver.until('all at the neighbour', () => instance.arrived(neighbour).length >= sent.length);
    expect(instance.arrived(neighbour)).toHaveLength(sent.length);
  });

  it('one source is deleted by two: one 204, the other 404 or 409', async () => {
    for (let n = 0; n < 3; n++) {
      const source = await instance.deploy(relayCode());
      const replies = await Promise.all([1, 2, 3].map(() => api.call('DELETE', `/v1/sources/${source.id}`)));
      const statuses = replies.map(({ status }) => status).sort();
      expect(statuses[0]).toBe(204);
      for (const status of statuses.slice(1)) expect([404, 409]).toContain(status);
    }
  });
});
