import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Paged, type Source } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP, relayCode } from '#test/harness/component-code.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api } = instance;
const create = (body: Record<string, unknown>) => api.call<Data<Source> & ErrorBody>('POST', '/v1/sources', { body });
const update = (id: string, body: Record<string, unknown>) =>
  api.call<Data<Source> & ErrorBody>('PUT', `/v1/sources/${id}`, { body });
const total = async (): Promise<number> =>
  (await api.expect<Paged<Source>>(200, 'GET', '/v1/users/me/sources')).page_info.total_count;

/** Answers with the values of its props. */
const shower = (props: string): string =>
  componentCode({
    props: `${CUSTOM_HTTP}, ${props}`,
    members: `run() {
      const { text, count, flag, list, token } = this;
      this.http.respond({ status: 200, body: { text, count, flag, list, token } });
    },`,
  });

describe('creating a source', () => {
  // docs/reference/rest-api.md#success-status #reply-envelope #source-fields #source-create
  it('answers 200 with the whole record, active', async () => {
    const { status, body } = await create({ component_code: relayCode('First of all') });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^dc_/),
      user_id: expect.stringMatching(/^u_/),
      owner_id: expect.stringMatching(/^o_/),
      component_id: expect.stringMatching(/^sc_/),
      component_key: expect.any(String),
      active: true,
      name: 'first-of-all',
      name_slug: 'first-of-all',
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    const { endpoint_url } = body.data.configured_props.http as { endpoint_url: string };
    expect(endpoint_url).toMatch(new RegExp(`^${instance.server.url}/h/e[0-9a-z]{15}/?$`));
  });

  // docs/reference/rest-api.md#source-name-slug
  it('slugs a name and counts up when it is taken', async () => {
    const { id: component_id } = await api.createComponent(relayCode());
    const slugs: string[] = [];
    for (const name of ['Été & Hiver!', 'Ete   hiver', 'été hiver', 'ETE-HIVER-1']) {
      const { body } = await create({ component_id, name });
      expect(body.data.name).toBe(name);
      slugs.push(body.data.name_slug);
    }
    expect(new Set(slugs).size).toBe(slugs.length);
    for (const slug of slugs) expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    const same: string[] = [];
    for (let n = 0; n < 3; n++) same.push((await create({ component_id, name: 'Same Name' })).body.data.name_slug);
    expect(same).toEqual(['same-name', 'same-name-1', 'same-name-2']);
  });

  // docs/reference/rest-api.md#source-reference
  it('takes component_id before component_code, and a key last', async () => {
    const saved = await api.createComponent(componentCode({ key: 'by-key', name: 'By key', members: 'run() {},' }));
    const byId = await create({ component_id: saved.id, component_code: relayCode('Ignored') });
    expect(byId.body.data.component_id).toBe(saved.id);
    const byKey = await create({ key: 'by-key' });
    expect(byKey.body.data).toMatchObject({ component_id: saved.id, component_key: 'by-key' });
    const byCode = await create({ component_code: relayCode('Wins over key'), key: 'by-key' });
    expect(byCode.body.data.component_id).not.toBe(saved.id);
  });

  // docs/reference/rest-api.md#configured-props #configured-props-types #configured-timer
  it.each([
    ['no reference', {}, 400, /component_id/],
    ['an unknown component', { component_id: 'sc_doesnotexist' }, 404, /sc_doesnotexist/],
    ['an unknown key', { key: 'no-such-key' }, 404, /no-such-key/],
    ['props that are no object', { component_code: relayCode(), configured_props: 'text' }, 400, /configured_props/],
    ['a name that is no text', { component_code: relayCode(), name: 7 }, 400, /name/],
    ['a missing prop', { component_code: shower(`text: 'string'`) }, 400, /\btext\b/],
    [
      'a wrong type',
      { component_code: shower(`count: 'integer'`), configured_props: { count: 'many' } },
      400,
      /count.*many/,
    ],
    [
      'a number above its limit',
      { component_code: shower(`count: { type: 'integer', max: 5 }`), configured_props: { count: 6 } },
      400,
      /count.*5.*6/,
    ],
    [
      'a value above 64 KB',
      { component_code: shower(`text: 'string'`), configured_props: { text: 'x'.repeat(65_537) } },
      400,
      /text.*6553[67]/,
    ],
    [
      'an interval below 15 s',
      {
        component_code: componentCode({ props: `timer: '$.interface.timer'`, members: 'run() {},' }),
        configured_props: { timer: { intervalSeconds: 14 } },
      },
      400,
      /timer.*15.*14/,
    ],
    [
      'a bad cron',
      {
        component_code: componentCode({ props: `timer: '$.interface.timer'`, members: 'run() {},' }),
        configured_props: { timer: { cron: '61 * * * *' } },
      },
      400,
      /61 \* \* \* \*/,
    ],
  ])('refuses %s by name, and creates nothing', async (_name, body, status, why) => {
    const before = await total();
    const reply = await create(body);
    expect({ status: reply.status, error: reply.body.error }).toEqual({ status, error: expect.stringMatching(why) });
    expect(reply.body.code).toMatch(/^[a-z_]+$/);
    expect(await total()).toBe(before);
  });
});

describe('props', () => {
  // docs/reference/rest-api.md#configured-props-required
  it('hands values and defaults to run, and leaves an optional one undefined', async () => {
    const source = await instance.deploy(
      shower(
        `text: { type: 'string', default: 'preset' }, count: { type: 'integer', optional: true }, flag: 'boolean', list: 'string[]'`,
      ),
      { flag: false, list: ['a', 'b'] },
    );
    expect(JSON.parse((await instance.post(source)).text)).toEqual({ text: 'preset', flag: false, list: ['a', 'b'] });
  });

  // docs/reference/rest-api.md#configured-props-reply
  it('shows a timer by cron and interval_seconds', async () => {
    const code = componentCode({
      props: `timer: { type: '$.interface.timer', default: { intervalSeconds: 3600 } }`,
      members: 'run() {},',
    });
    const byDefault = await instance.deploy(code);
    expect(byDefault.configured_props.timer).toMatchObject({ cron: null, interval_seconds: 3600 });
    const byCron = await instance.deploy(code, { timer: { cron: '0 9 * * 1', timezone: 'Europe/Berlin' } });
    expect(byCron.configured_props.timer).toMatchObject({
      cron: '0 9 * * 1',
      interval_seconds: null,
      timezone: 'Europe/Berlin',
    });
  });

  // docs/reference/rest-api.md#secret-mask
  it('never shows a secret, uses it in run, and keeps it when the mask comes back', async () => {
    const source = await instance.deploy(shower(`token: { type: 'string', secret: true }`), { token: 's3cret-value' });
    expect(source.configured_props.token).toBe('********');
    const changed = await update(source.id, { configured_props: { token: '********' }, name: 'Kept' });
    expect(changed.status).toBe(200);
    for (const path of [`/v1/sources/${source.id}`, '/v1/users/me/sources?limit=100', `/v1/audit/${source.id}`]) {
      expect((await api.call('GET', path)).text).not.toContain('s3cret-value');
    }
    expect(JSON.parse((await instance.post(source)).text)).toEqual({ token: 's3cret-value' });
  });
});

describe('updating a source', () => {
  // docs/reference/rest-api.md#source-update-name
  it('renames it, recomputes the slug only for a new name, and keeps id and endpoint', async () => {
    const source = await instance.deploy(relayCode('Before'));
    const renamed = await update(source.id, { name: 'After All' });
    expect(renamed.body.data).toMatchObject({ id: source.id, name: 'After All', name_slug: 'after-all', active: true });
    expect(renamed.body.data.configured_props).toEqual(source.configured_props);
    const again = await update(source.id, { name: 'After All' });
    expect(again.body.data.name_slug).toBe('after-all');
  });

  // docs/reference/rest-api.md#source-update
  it('changes code under the same id and endpoint', async () => {
    const answer = (text: string): string =>
      componentCode({ props: CUSTOM_HTTP, members: `run() { this.http.respond({ status: 200, body: '${text}' }); },` });
    const source = await instance.deploy(answer('old'));
    expect((await instance.post(source)).text).toBe('old');
    const updated = await update(source.id, { component_code: answer('new') });
    expect(updated.body.data.component_id).not.toBe(source.component_id);
    expect((await instance.post(source)).text).toBe('new');
  });

  // docs/reference/rest-api.md#source-update-props
  it('merges props by key, and null removes one', async () => {
    const source = await instance.deploy(
      shower(`text: { type: 'string', optional: true }, count: { type: 'integer', optional: true }`),
      { text: 'a', count: 1 },
    );
    await update(source.id, { configured_props: { count: 2 } });
    expect(JSON.parse((await instance.post(source)).text)).toEqual({ text: 'a', count: 2 });
    await update(source.id, { configured_props: { text: null } });
    expect(JSON.parse((await instance.post(source)).text)).toEqual({ count: 2 });
  });

  // docs/reference/rest-api.md#source-update-inactive #endpoint-service
  it('switches the endpoint off and on', async () => {
    const source = await instance.deploy(relayCode());
    const off = await update(source.id, { active: false });
    expect(off.body.data.active).toBe(false);
    expect((await instance.post(source, {})).status).toBe(404);
    const on = await update(source.id, { active: true });
    expect(on.body.data).toMatchObject({ active: true, configured_props: source.configured_props });
    expect((await instance.post(source, {})).status).toBe(200);
    const implied = await update(source.id, { active: false }).then(() =>
      update(source.id, { component_id: source.component_id }),
    );
    expect(implied.body.data.active).toBe(true);
  });

  // docs/reference/rest-api.md#if-updated-at
  it('answers 400 without anything to change, 404 for another id, and 409 for a stale one', async () => {
    const source = await instance.deploy(relayCode());
    expect((await update(source.id, {})).status).toBe(400);
    expect((await update('dc_doesnotexist', { name: 'x' })).status).toBe(404);
    const stale = await update(source.id, { name: 'Late', if_updated_at: source.updated_at - 10 });
    expect(stale).toMatchObject({ status: 409, body: { code: 'stale_update' } });
    expect((await api.getSource(source.id)).name).toBe(source.name);
  });
});

describe('reading and deleting a source', () => {
  // docs/reference/rest-api.md#source-id-or-slug
  it('reads it by id and by slug, without user_id', async () => {
    const source = await instance.deploy(relayCode('Read Me'));
    const { user_id, ...shown } = source;
    expect(user_id).toMatch(/^u_/);
    for (const ref of [source.id, source.name_slug]) {
      expect((await api.expect<Data<Source>>(200, 'GET', `/v1/sources/${ref}`)).data).toMatchObject({ ...shown });
    }
  });

  // docs/reference/rest-api.md#source-delete #success-status #subscription-cleanup
  it('deletes it with 204, an empty body, its endpoint and its subscriptions', async () => {
    const source = await instance.deploy(relayCode());
    await instance.listen(source.id);
    const url = instance.endpoint(source);
    const reply = await api.call('DELETE', `/v1/sources/${source.id}`);
    expect(reply).toMatchObject({ status: 204, text: '' });
    expect((await send(url, { body: {} })).status).toBe(404);
    for (const [method, path] of [
      ['GET', `/v1/sources/${source.id}`],
      ['DELETE', `/v1/sources/${source.id}`],
      ['GET', `/v1/sources/${source.id}/event_summaries`],
    ] as const) {
      expect(await api.call(method, path)).toMatchObject({ status: 404, body: { code: 'source_not_found' } });
    }
    await eventually('its subscription is gone', async () => {
      const { data } = await api.expect<Data<{ emitter_id: string }[]>>(200, 'GET', '/v1/users/me/subscriptions');
      return data.some(({ emitter_id }) => emitter_id === source.id) ? undefined : true;
    });
  });
});

// docs/reference/rest-api.md#source-db
describe('the db of a source', () => {
  it('is read as its code left it, with the secrets of its props masked', async () => {
    const code = componentCode({
      props: `http: '$.interface.http', db: '$.service.db', token: { type: 'string', secret: true }`,
      members: `run(event) {
        this.db.set('digits', event.body.n);
        this.db.set('auth', { header: 'Bearer ' + this.token });
        this.$emit(1);
      },`,
    });
    const source = await instance.deploy(code, { token: 'a-secret-text' });
    const path = `/v1/sources/${source.name_slug}/db`;
    expect((await api.call('GET', path)).body).toEqual({ data: {} });
    await instance.post(source, { n: 1.5 });
    await instance.history(source, 1);
    expect((await api.call('GET', path)).body).toEqual({ data: { digits: 1.5, auth: { header: 'Bearer ********' } } });
    expect((await api.call('GET', '/v1/sources/none/db')).status).toBe(404);
  });
});
