import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient, type Component, type Data, type ErrorBody, type Paged } from '#test/harness/api-client.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';
import { SmtpServer } from '#test/harness/smtp-server.js';
import { eventually } from '#test/harness/wait.js';

/**
 * The owner of the first workspace attacks another user with a workspace of her own, only by memberships that she did
 * not request.
 */
const smtp = await SmtpServer.start();
afterAll(() => smtp.stop());
const instance = useStandalone({ env: { SLUICE_SMTP_URL: smtp.url } });
const attacker = instance.api;

let vera: SecondWorkspace;
let victim: ApiClient;
let veraId: string;
let attackerId: string;
let trap: string;

const add = (userId: string, role = 'owner', workspace = trap, by = attacker) =>
  by.call<ErrorBody>('POST', `/v1/workspaces/${workspace}/members`, { body: { user_id: userId, role } });
const remove = (userId: string, workspace: string, by: ApiClient) =>
  by.call<ErrorBody>('DELETE', `/v1/workspaces/${workspace}/members/${userId}`);
const idsOf = async (client: ApiClient, path: string, query: Record<string, string> = {}): Promise<string[]> =>
  (await client.expect<Paged<{ id: string }>>(200, 'GET', path, { query: { limit: '100', ...query } })).data.map(
    ({ id }) => id,
  );

beforeAll(async () => {
  vera = await addWorkspace(instance, 'vera');
  victim = vera.api;
  veraId = (await victim.expect<Data<{ id: string }>>(200, 'GET', '/v1/users/me')).data.id;
  const { data: me } = await attacker.expect<Data<{ id: string; orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
  attackerId = me.id;
  trap = me.orgs[0]?.id ?? '';
  expect((await add(veraId)).status).toBe(200);
}, 180_000);
afterAll(() => vera.api.close());

// docs/reference/rest-api.md#acting-workspace
describe('a user who was added to a workspace of others', () => {
  // docs/reference/rest-api.md#workspace-of-new
  it('creates in the workspace of the account as before, without naming it', async () => {
    const code = relayCode();
    const webhook = { url: `${instance.receiver.url}/vera` };
    const account = { app: 'shop', credentials: { token: 't' } };
    const made = async (path: string, body: object): Promise<string> =>
      (await victim.expect<Data<{ id: string }>>(200, 'POST', path, { body })).data.id;
    const source = await made('/v1/sources', { component_code: code });
    const ids = [
      await made('/v1/components', { component_code: relayCode() }),
      source,
      await made('/v1/webhooks', webhook),
      await made('/v1/data_stores', { name: 'mine' }),
      await made('/v1/accounts', account),
    ];
    const listener = ids[2] ?? '';
    ids.push((await victim.subscribe(source, listener)).id);
    await victim.expect(200, 'POST', '/v1/auto_subscriptions', {
      query: { event_name: '$errors', listener_id: listener },
    });
    await victim.expect(200, 'GET', '/v1/components', { query: { package: 'left-pad' } });
    await victim.expect(200, 'GET', '/v1/data_stores');
    for (const id of ids) {
      const seen = await attacker.call('GET', `/v1/audit/${id}`);
      expect({ id, status: seen.status }).toEqual({ id, status: 404 });
      await victim.expect(200, 'GET', `/v1/audit/${id}`, { query: { org_id: vera.workspaceId } });
    }
  });

  it('(control) creates in the other one when she names it', async () => {
    const body = { name: 'theirs' };
    const made = await victim.expect<Data<{ id: string }>>(200, 'POST', '/v1/data_stores', {
      body,
      query: { org_id: trap },
    });
    await attacker.expect(200, 'GET', `/v1/data_stores/${made.data.id}`);
  });

  // docs/reference/rest-api.md#component-key-lookup #source-id-or-slug
  it('gets no code of theirs by a key or a slug that they chose, on any route', async () => {
    const props = `token: 'string', pick: { type: 'string', optional: true, options() { return ['stolen ' + this.token]; } }`;
    const members = `async additionalProps() { return {}; }, run() { return 'stolen ' + this.token; },`;
    const trapped = componentCode({ key: 'rss', version: '99.0.0', props, members });
    const theirs: Component = await attacker.createComponent(trapped);
    const action = componentCode({ key: 'sum', version: '99.0.0', props, members: `type: 'action', ${members}` });
    await attacker.createComponent(action);
    const slug = (await attacker.createSource({ component_code: relayCode(), name: 'Shared name' })).name_slug;
    const values = { configured_props: { token: 'hush' } };
    const asked = [
      ['GET', '/v1/components/rss', {}],
      ['GET', '/v1/components/rss/packages', {}],
      ['POST', '/v1/components/configure', { id: 'rss', prop_name: 'pick', ...values }],
      ['POST', '/v1/components/props', { id: 'rss', ...values }],
      ['POST', '/v1/actions/run', { id: 'sum', ...values }],
      ['POST', '/v1/sources', { key: 'rss', ...values }],
      ['POST', '/v1/sources', { component_key: 'rss', ...values }],
      ['GET', `/v1/sources/${slug}`, {}],
      ['PUT', `/v1/sources/${slug}`, { name: 'x' }],
      ['POST', `/v1/sources/${slug}/run`, {}],
      ['DELETE', `/v1/sources/${slug}`, {}],
    ] as const;
    for (const [method, path, body] of asked) {
      const options = method === 'GET' || method === 'DELETE' ? {} : { body };
      const reply = await victim.call<ErrorBody>(method, path, options);
      expect({ method, path, status: reply.status }).toEqual({ method, path, status: 404 });
      expect(reply.text).not.toContain('stolen');
    }
    // (control) The same request runs the attacker's code when she names that workspace, and ids find what she may
    // read.
    const named = { body: { id: 'rss', prop_name: 'pick', org_id: trap, ...values } };
    expect((await victim.call('POST', '/v1/components/configure', named)).text).toContain('stolen hush');
    await victim.expect(200, 'GET', `/v1/components/${theirs.id}`);
    // An update by key acts in the workspace of its source, not in one of the caller.
    const own = await victim.createSource({ component_code: relayCode() });
    const update = await victim.call<ErrorBody>('PUT', `/v1/sources/${own.id}`, { body: { key: 'rss' } });
    expect(update).toMatchObject({ status: 404, body: { code: 'component_not_found' } });
  });

  // docs/reference/rest-api.md#apps
  it('sees no apps that they name', async () => {
    await attacker.createComponent(
      componentCode({ props: `a: { type: 'app', app: 'evil_app' }`, members: 'run() {},' }),
    );
    const slugs = async (query: Record<string, string>) =>
      (await victim.expect<Paged<{ name_slug: string }>>(200, 'GET', '/v1/apps', { query })).data.map(
        ({ name_slug }) => name_slug,
      );
    expect(await slugs({})).not.toContain('evil_app');
    expect(await slugs({ org_id: trap })).toContain('evil_app');
    expect((await victim.call('GET', '/v1/apps/evil_app')).status).toBe(404);
  });

  // docs/reference/rest-api.md#user-fields
  it('finds her own workspace first, her own use, and tells them nothing of her keys', async () => {
    const source = await attacker.createSource({ component_code: componentCode({ members: 'run() {},' }) });
    await instance.post(source, 'used');
    interface Me {
      daily_invocations_used: number;
      orgs: { id: string; daily_invocations_used: number }[];
    }
    const me = await eventually('their use', async () => {
      const { data } = await victim.expect<Data<Me>>(200, 'GET', '/v1/users/me');
      return (data.orgs.find(({ id }) => id === trap)?.daily_invocations_used ?? 0) > 0 ? data : undefined;
    });
    expect(me.orgs.map(({ id }) => id)).toEqual([vera.workspaceId, trap]);
    expect(me.daily_invocations_used).toBe(me.orgs[0]?.daily_invocations_used);
    await victim.expect(200, 'POST', '/v1/api_keys', { body: { name: 'key-of-vera' } });
    const audit = (client: ApiClient, id: string) =>
      client.expect<Paged<object>>(200, 'GET', `/v1/workspaces/${id}/audit`, { query: { limit: '100' } });
    expect(JSON.stringify(await audit(attacker, trap))).not.toContain('key-of-vera');
    expect(JSON.stringify(await audit(victim, vera.workspaceId))).toContain('ApiKeyIssued');
  });
});

// docs/reference/rest-api.md#members
describe('the owners of a workspace', () => {
  it('who remove each other at once leave one of them', async () => {
    await add(veraId);
    const replies = await Promise.all([remove(veraId, trap, attacker), remove(attackerId, trap, victim)]);
    const stayed = await Promise.all([attacker, victim].map((each) => each.call('GET', `/v1/workspaces/${trap}`)));
    expect(stayed.map(({ status }) => status).sort()).toEqual([200, 403]);
    expect(replies.map(({ status }) => status)).toContain(204);
    expect(replies.map(({ status }) => status).sort()).not.toEqual([204, 204]);
    if (stayed[0]?.status === 403) expect((await add(attackerId, 'owner', trap, victim)).status).toBe(200);
    else expect((await add(veraId)).status).toBe(200);
  });

  it('who were made owners and left alone may leave; what they made there is no longer listed to them', async () => {
    const made = await victim.createSource({ component_code: relayCode(), org_id: trap });
    expect(await idsOf(victim, '/v1/users/me/sources')).toContain(made.id);
    expect((await remove(attackerId, trap, attacker)).status).toBe(204);
    expect((await remove(veraId, trap, victim)).status).toBe(204);
    expect((await victim.call('GET', `/v1/workspaces/${trap}`)).status).toBe(403);
    expect((await victim.call('GET', `/v1/sources/${made.id}`)).status).toBe(404);
    for (const list of ['sources', 'webhooks', 'subscriptions', 'auto_subscriptions'])
      expect(await idsOf(victim, `/v1/users/me/${list}`)).not.toContain(made.id);
    // Nothing else changed for her.
    const own = await victim.createSource({ component_code: relayCode() });
    expect(await idsOf(victim, `/v1/workspaces/${vera.workspaceId}/sources`)).toContain(own.id);
  });

  // docs/reference/command-line.md#sluice-admin
  it('who have all left are replaced by the operator', async () => {
    await Promise.all([remove(attackerId, trap, attacker), remove(veraId, trap, victim)]);
    await instance.server.stop();
    const admin = (...args: readonly string[]): Promise<Told> =>
      runNode([CLI, 'admin', ...args], { ...process.env, SLUICE_DATA_DIR: instance.server.dataDir }, process.cwd());
    const listed = await admin('workspace', 'list', '--without-owner', '--json');
    expect((JSON.parse(listed.stdout) as { id: string }[]).map(({ id }) => id)).toEqual([trap]);
    const given = await admin('member', 'add', '--workspace', trap, '--email', 'owner@localhost', '--role', 'owner');
    expect(given).toMatchObject({ status: 0 });
    expect(JSON.parse((await admin('workspace', 'list', '--without-owner', '--json')).stdout)).toEqual([]);
    await instance.server.start();
    await attacker.expect(200, 'GET', `/v1/workspaces/${trap}/members`);
  }, 60_000);
});

// docs/reference/rest-api.md#error-emails
it('mails no errors to a user whom others brought back, until she switches them on again', async () => {
  await add(veraId, 'member');
  const failing = componentCode({ members: `run(event) { throw new Error(event.body.why); },` });
  const source = await attacker.createSource({ component_code: failing });
  const path = `/v1/sources/${source.id}/error_emails`;
  const about = (text: string) => smtp.received.filter((mail) => mail.text.includes(text));
  const isOn = async () => (await attacker.expect<Data<{ enabled: boolean }>>(200, 'GET', path)).data.enabled;
  await victim.expect(200, 'PUT', path, { body: { enabled: true } });
  await instance.post(source, { why: 'before-leaving' });
  await eventually('(control) the mail', async () => (about('before-leaving').length > 0 ? true : undefined), 30_000);
  expect((await remove(veraId, trap, victim)).status).toBe(204);
  await add(veraId, 'owner');
  await eventually('the emails to end', async () => ((await isOn()) ? undefined : true));
  await instance.post(source, { why: 'after-return' });
  await instance.history(source, 2, '$errors', 30_000);
  await victim.expect(200, 'PUT', path, { body: { enabled: true } });
  await instance.post(source, { why: 'switched-on-again' });
  await eventually('the new mail', async () => (about('switched-on-again').length > 0 ? true : undefined), 30_000);
  expect(about('after-return')).toEqual([]);
}, 120_000);

// docs/reference/rest-api.md#acting-workspace
it('a user who left the workspace of the account and has several others must name one, and is not brought back unasked', async () => {
  const body = { name: 'whose' };
  // She made the attacker an owner of her workspace, who then makes her read-only. Her requests still act there.
  expect((await add(attackerId, 'owner', vera.workspaceId, victim)).status).toBe(200);
  await attacker.expect(200, 'PUT', `/v1/workspaces/${vera.workspaceId}/members/${veraId}`, {
    body: { role: 'read_only' },
  });
  const refused = await victim.call<ErrorBody>('POST', '/v1/data_stores', { body });
  expect(refused).toMatchObject({ status: 403, body: { code: 'read_only_member' } });
  expect((await remove(veraId, vera.workspaceId, victim)).status).toBe(204);
  // One workspace is left, so requests act in it.
  const made = await victim.expect<Data<{ owner_id: string }>>(200, 'POST', '/v1/data_stores', { body });
  expect(made.data.owner_id).toBe(trap);
  await add(veraId, 'owner', vera.workspaceId);
  for (const reply of [
    await victim.call<ErrorBody>('POST', '/v1/data_stores', { body }),
    await victim.call<ErrorBody>('POST', '/v1/components/configure', { body: { id: 'rss', prop_name: 'pick' } }),
    await victim.call<ErrorBody>('GET', '/v1/components/rss'),
  ])
    expect(reply).toMatchObject({ status: 400, body: { code: 'workspace_required' } });
  await victim.expect(200, 'GET', '/v1/users/me');
  await victim.expect(200, 'GET', '/v1/users/me/sources');
});
