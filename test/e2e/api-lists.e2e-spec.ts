import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Paged, type Source, type Webhook } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;
const TOTAL = 12;
/** Ids newest first, like the lists. */
let ids: string[];
let sources: Source[];

const LIST = '/v1/users/me/sources';
const page = (query: Record<string, string> = {}): Promise<Paged<Source>> => api.expect(200, 'GET', LIST, { query });
const idsOf = ({ data }: Paged<Source>): string[] => data.map(({ id }) => id);
const cursorOf = (id: string): string => Buffer.from(id).toString('base64').replace(/=+$/, '');

describe('paged lists', () => {
  // docs/reference/rest-api.md#page-info
  it('answers an empty list with count 0 and null cursors', async () => {
    for (const path of [LIST, '/v1/users/me/webhooks']) {
      expect((await api.call('GET', path)).body).toEqual({
        page_info: { total_count: 0, count: 0, start_cursor: null, end_cursor: null },
        data: [],
      });
    }
  });

  describe('of twelve sources', () => {
    beforeAll(async () => {
      const component = await api.createComponent(relayCode('Listed'));
      sources = [];
      for (let n = 0; n < TOTAL; n++) sources.push(await api.createSource({ component_id: component.id }));
      ids = sources.map(({ id }) => id).reverse();
    }, 60_000);

    // docs/reference/rest-api.md#paging #list-order #page-info #cursors
    it('gives ten, newest first, with cursors that decode to the ids of first and last', async () => {
      const first = await page();
      expect(idsOf(first)).toEqual(ids.slice(0, 10));
      expect(first.page_info).toEqual({
        total_count: TOTAL,
        count: 10,
        start_cursor: cursorOf(ids[0] ?? ''),
        end_cursor: cursorOf(ids[9] ?? ''),
      });
    });

    it('leaves user_id out of lists', async () => {
      for (const item of (await page()).data) expect(item).not.toHaveProperty('user_id');
    });

    // docs/reference/rest-api.md#after-before
    it('walks forwards by after and backwards by before, without a gap or a repeat', async () => {
      const forwards: string[] = [];
      for (let after: string | null = null; ;) {
        const part: Paged<Source> = await page({ limit: '5', ...(after === null ? {} : { after }) });
        if (part.data.length === 0) break;
        forwards.push(...idsOf(part));
        after = part.page_info.end_cursor;
      }
      expect(forwards).toEqual(ids);

      const backwards: string[] = [];
      for (let before: string | null = cursorOf(ids[TOTAL - 1] ?? ''); before !== null;) {
        const part: Paged<Source> = await page({ limit: '4', before });
        backwards.unshift(...idsOf(part));
        before = part.page_info.start_cursor;
      }
      expect(backwards).toEqual(ids.slice(0, TOTAL - 1));
    });

    // docs/reference/rest-api.md#after-before
    it('gives the items right before a cursor, still in list order', async () => {
      expect(idsOf(await page({ limit: '3', before: cursorOf(ids[6] ?? '') }))).toEqual(ids.slice(3, 6));
    });

    // docs/reference/rest-api.md#after-before
    it('gives the open interval between two cursors, from the after side', async () => {
      const query = { after: cursorOf(ids[1] ?? ''), before: cursorOf(ids[8] ?? '') };
      expect(idsOf(await page(query))).toEqual(ids.slice(2, 8));
      expect(idsOf(await page({ ...query, limit: '2' }))).toEqual(ids.slice(2, 4));
    });

    // docs/reference/rest-api.md#cursors
    it('reads a cursor with padding or of the URL-safe alphabet', async () => {
      const id = ids[2] ?? '';
      for (const after of [Buffer.from(id).toString('base64'), Buffer.from(id).toString('base64url')]) {
        expect(idsOf(await page({ after, limit: '1' }))).toEqual([ids[3]]);
      }
    });

    // docs/reference/rest-api.md#cursors
    it('goes on from the place of an item that was deleted meanwhile', async () => {
      const made = await api.createSource({ component_code: relayCode() });
      const [, second] = (await page({ limit: '2' })).data;
      await api.expect(204, 'DELETE', `/v1/sources/${made.id}`);
      expect(idsOf(await page({ after: cursorOf(made.id), limit: '1' }))).toEqual([second?.id]);
      expect(idsOf(await page({ before: cursorOf(made.id) }))).toEqual([]);
    });

    it.each(['dc_doesnotexist', 'not base64 at all!', '%%%'].map((text) => [text]))(
      'answers 400 invalid_cursor on %s',
      async (text) => {
        const after = text.startsWith('dc_') ? cursorOf(text) : text;
        const reply = await api.call<ErrorBody>('GET', LIST, { query: { after } });
        expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
        expect(reply.body.error).toContain('after');
      },
    );

    // docs/reference/rest-api.md#page-limit
    it('clamps a limit above 100, and refuses one below 1 or not an integer', async () => {
      expect((await page({ limit: '100000' })).data).toHaveLength(TOTAL);
      for (const limit of ['0', '-1', '1.5', 'ten']) {
        const reply = await api.call<ErrorBody>('GET', LIST, { query: { limit } });
        expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } });
        expect(reply.body.error).toContain('limit');
        expect(reply.body.error).toContain(limit);
      }
    });

    // docs/reference/rest-api.md#source-lists
    it('lists the same sources of the workspace', async () => {
      const reply = await api.call<{ data: { orgs: { id: string }[] } }>('GET', '/v1/users/me');
      const workspace = reply.body.data.orgs[0]?.id ?? '';
      for (const path of [`/v1/orgs/${workspace}/sources`, `/v1/workspaces/${workspace}/sources`]) {
        const list = await api.expect<Paged<Source>>(200, 'GET', path);
        expect(idsOf(list)).toEqual(ids.slice(0, 10));
      }
    });
  });

  // docs/reference/rest-api.md#cursors
  it('goes on from the place of a data store that was deleted meanwhile', async () => {
    const made: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const { data } = await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/data_stores', { body: { name } });
      made.push(data.id);
    }
    const page = (query: Record<string, string>) =>
      api.expect<Paged<{ id: string }>>(200, 'GET', '/v1/data_stores', { query: { limit: '2', ...query } });
    const first = await page({});
    expect(first.data.map(({ id }) => id)).toEqual([made[2], made[1]]);
    await api.expect(204, 'DELETE', `/v1/data_stores/${made[1]}`);
    const rest = await page({ after: String(first.page_info.end_cursor) });
    expect(rest.data.map(({ id }) => id)).toEqual([made[0]]);
  });

  it('lists webhooks in pages, without their keys', async () => {
    const made: Webhook[] = [];
    for (const n of [1, 2, 3]) made.push(await api.createWebhook(`${instance.receiver.url}/${n}`));
    const first = await api.expect<Paged<Webhook>>(200, 'GET', '/v1/users/me/webhooks', { query: { limit: '2' } });
    expect(first.data.map(({ id }) => id)).toEqual([made[2]?.id, made[1]?.id]);
    expect(first.page_info).toMatchObject({ total_count: 3, count: 2, end_cursor: cursorOf(made[1]?.id ?? '') });
    for (const webhook of first.data) {
      expect(webhook).not.toHaveProperty('signing_key');
      expect(webhook).not.toHaveProperty('user_id');
      expect(webhook.signing_key_set).toBe(true);
    }
  });

  // docs/reference/rest-api.md#subscription-lists #paging
  it('lists all subscriptions at once, without page_info', async () => {
    const webhook = await api.createWebhook(instance.receiver.url);
    const emitter = sources[0]?.id ?? '';
    for (let n = 0; n < 11; n++) await api.subscribe(emitter, webhook.id, `channel-${n}`);
    const reply = await api.call<{ data: unknown[] }>('GET', '/v1/users/me/subscriptions');
    expect(Object.keys(reply.body)).toEqual(['data']);
    expect(reply.body.data).toHaveLength(11);
    expect(reply.body.data).toContainEqual({
      id: expect.stringMatching(/^sub_/),
      emitter_id: emitter,
      listener_id: webhook.id,
      event_name: 'channel-10',
      revision: 0,
    });
  });
});
