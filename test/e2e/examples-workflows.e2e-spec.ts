import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { CLI, runNode } from '#test/harness/command-line.js';
import { FeedServer } from '#test/harness/feed-server.js';
import { type HttpAnswer, jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';
import { SmtpServer } from '#test/harness/smtp-server.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';

interface Step {
  readonly namespace: string;
  readonly state: string;
  readonly items?: readonly { readonly state: string; readonly attempts: number }[];
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly exit_reason: string | null;
  readonly cancel_reason: string | null;
  readonly trigger: { readonly type: string };
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly triggers: readonly { readonly endpoint_url: string; readonly next_tick_ms: number }[];
}

const EXAMPLES = join(ROOT, 'examples/workflows');
const NAMES = readdirSync(EXAMPLES).sort();
const ENDED = ['succeeded', 'exited', 'failed', 'cancelled'];

// Started first, because the instance gets its address.
const smtp = await SmtpServer.start();
const feed = await FeedServer.start(readFileSync(join(ROOT, 'examples/feeds/releases.atom'), 'utf8'));
const second = await WebhookReceiver.start();
const copy = tempDir('examples');
afterAll(async () => {
  await Promise.all([smtp.stop(), feed.close(), second.close()]);
  removeDir(copy);
});

const instance = useInstance({ env: { SLUICE_SMTP_URL: smtp.url } });
const { api, server } = instance;

const apply = async (dir: string): Promise<string[]> => {
  const env = { PATH: process.env.PATH, SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url };
  const { stdout, stderr, status } = await runNode([CLI, 'workflows', 'apply', dir], env, ROOT);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.trim().split('\n');
};
const workflowOf = async (name: string): Promise<Workflow> =>
  (await api.expect<Data<Workflow>>(200, 'GET', `/v1/workflows/ext:${name}`)).data;
const endpointOf = async (name: string): Promise<string> => (await workflowOf(name)).triggers[0]?.endpoint_url ?? '';
const runIn = (id: string, states: readonly string[]): Promise<Run> =>
  eventually(
    `run ${id} in ${states.join()}`,
    async () => {
      const { body } = await api.call<Partial<Data<Run>>>('GET', `/v1/runs/${id}`);
      return body.data && states.includes(body.data.state) ? body.data : undefined;
    },
    30_000,
  );
const runOf = ({ headers }: HttpAnswer): string => String(headers['x-sluice-run-id']);
const emitsOf = (name: string, count: number): Promise<readonly unknown[]> =>
  eventually(`${count} events of ${name}`, async () => {
    const path = `/v1/workflows/ext:${name}/event_summaries`;
    const query = { expand: 'event' };
    const { data } = await api.expect<Data<{ event: { raw_event: unknown } }[]>>(200, 'GET', path, { query });
    return data.length >= count ? data.map(({ event }) => event.raw_event) : undefined;
  });
/** The mails that came so far, as their readers see them. */
const mails = (): readonly string[] => smtp.received.map(({ text }) => text.replaceAll(/=\r?\n/g, ''));
const mailWith = (text: string): Promise<string> =>
  eventually(`a mail with ${text}`, () => mails().find((mail) => mail.includes(text)), 30_000);

beforeAll(async () => {
  const { data } = await api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
  const values = { FEED_URL: feed.url, RECEIVERS: `${instance.receiver.url} ${second.url}` };
  for (const [name, value] of Object.entries(values)) {
    await api.expect(200, 'PUT', `/v1/workspaces/${data.orgs[0]?.id}/variables/${name}`, { body: { value } });
  }
}, 120_000);

// Their pages are followed line by line by test/docs/guides.int-spec.ts.
describe('the example workflows', () => {
  it('are deployed by one command, which then finds nothing to change', async () => {
    const told = (state: string) => NAMES.map((name) => `${join(EXAMPLES, name, 'workflow.yaml')}: ${state}`);
    expect(await apply(EXAMPLES)).toEqual(told('created'));
    expect(await apply(EXAMPLES)).toEqual(told('unchanged'));
  }, 240_000);

  it('form-to-store shows a form, refuses what is wrong, and keeps one entry for each address', async () => {
    const url = await endpointOf('form-to-store');
    const page = await send(url, { method: 'GET' });
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('<form method="post">');

    const submit = (body: string) =>
      send(url, { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body });
    for (const [body, errors] of [
      ['email=ada', { name: 'is required', email: 'is no email address' }],
      [`name=${'n'.repeat(101)}&email=a@b.de`, { name: 'has 101 characters; the limit is 100' }],
      ['name=A&name=B&email=a@b.de', { name: 'is required' }],
      ['{', { name: 'is required', email: 'is no email address' }],
    ] as const) {
      const refused = await submit(body);
      expect([refused.status, jsonOf(refused)]).toEqual([422, { errors }]);
      expect(await runIn(runOf(refused), ENDED)).toMatchObject({
        state: 'exited',
        exit_reason: `refused: ${Object.keys(errors).join(', ')}`,
      });
    }
    for (const name of ['Ada', 'Ada+Lovelace']) {
      const stored = await submit(`name=${name}&email=Ada@example.com`);
      expect([stored.status, jsonOf(stored)]).toEqual([201, { signed_up: 'ada@example.com' }]);
    }
    const stores = await api.expect<Data<{ id: string; name: string }[]>>(200, 'GET', '/v1/data_stores');
    const { id } = stores.data.find(({ name }) => name === 'signups') ?? { id: 'none' };
    const records = await api.expect<Data<unknown>>(200, 'GET', `/v1/data_stores/${id}/records`);
    expect(records.data).toMatchObject([{ key: 'ada@example.com', value: { name: 'Ada Lovelace' } }]);
  }, 120_000);

  it('feed-digest mails what is new by its timer, and each item once', async () => {
    const [timer] = (await workflowOf('feed-digest')).triggers;
    const hour = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', timeStyle: 'short', hour12: false });
    expect(hour.format(timer?.next_tick_ms)).toBe('07:00');
    const run = async (): Promise<string> =>
      (await api.expect<Data<Run>>(200, 'POST', '/v1/workflows/ext:feed-digest/invoke', { body: { wait: true } })).data
        .state;
    feed.publish(3);
    expect([await run(), await run()]).toEqual(['succeeded', 'exited']);
    const links = [...(await mailWith('Subject: 3 new items')).matchAll(/https:\/\/\S+/g)];
    expect(links).toHaveLength(3);

    // The same workflow with a timer that a test can wait for.
    feed.publish(5);
    cpSync(join(EXAMPLES, 'feed-digest'), join(copy, 'feed-digest'), { recursive: true });
    const file = join(copy, 'feed-digest/workflow.yaml');
    const soon = readFileSync(file, 'utf8').replace(/cron: .*\n *timezone: .*/, 'interval_seconds: 15');
    writeFileSync(file, soon);
    expect(await apply(copy)).toEqual([`${file}: updated`]);
    expect(await mailWith('Subject: 2 new items')).not.toContain(links[0]?.[0]);
  }, 180_000);

  it('webhook-fan-out serves the others when one receiver is broken, and replays the dead letter to that one', async () => {
    let broken = true;
    second.behave(() => ({ status: broken ? 500 : 200 }));
    const failed = await runIn(runOf(await send(await endpointOf('webhook-fan-out'), { body: { order: 1 } })), ENDED);
    expect(failed.state).toBe('failed');
    expect(failed.steps[1]?.items).toMatchObject([
      { state: 'succeeded', attempts: 1 },
      { state: 'failed', attempts: 4 },
    ]);
    expect(await emitsOf('webhook-fan-out', 1)).toEqual([
      { receiver: second.url, error: `${second.url} answered 500`, run: failed.id, body: { order: 1 } },
    ]);

    const replay = async (): Promise<Run> => {
      const body = { run_ids: [failed.id], from: 'failed' };
      await api.expect(202, 'POST', '/v1/workflows/ext:webhook-fan-out/runs/replay', { body });
      const newest = await eventually('the replay', async () => {
        const query = { replay_of: failed.id };
        const { data } = await api.expect<Data<Run[]>>(200, 'GET', '/v1/workflows/ext:webhook-fan-out/runs', { query });
        return data.find(({ id }) => !replays.has(id));
      });
      replays.add(newest.id);
      return runIn(newest.id, ENDED);
    };
    const replays = new Set<string>();
    expect((await replay()).state).toBe('failed');
    broken = false;
    expect((await replay()).state).toBe('succeeded');
    const keys = (receiver: WebhookReceiver) => receiver.received.map(({ headers }) => headers['idempotency-key']);
    expect([keys(instance.receiver), keys(second)]).toEqual([[failed.id], Array(6).fill(failed.id)]);
    expect(second.accepted.map(({ body }) => body)).toEqual([{ order: 1 }]);
    expect(await emitsOf('webhook-fan-out', 1)).toHaveLength(1);
  }, 180_000);

  it('approval goes on once the link of the mail is confirmed, and ends when it is cancelled', async () => {
    const url = await endpointOf('approval');
    const answered = async (title: string, action: string): Promise<Run> => {
      const reply = await send(url, { body: { title } });
      const id = runOf(reply);
      expect([reply.status, jsonOf(reply)]).toEqual([202, { run: id }]);
      const link = /http:\S+\/confirm/.exec(await mailWith(`Subject: Approve ${title}?`))?.[0] ?? '';
      // A program that opens each link of a mail.
      expect((await send(link, { method: 'GET' })).text).toContain('<h1>Approval</h1>');
      expect((await runIn(id, ['waiting'])).steps[1]?.state).toBe('pending');
      expect((await send(link.replace(/confirm$/, action), { body: '' })).status).toBe(200);
      return runIn(id, ENDED);
    };
    const cancelled = await answered('a desk', 'cancel');
    expect([cancelled.state, cancelled.cancel_reason]).toEqual(['cancelled', 'cancel_url']);
    const approved = await answered('a lamp', 'resume');
    expect(approved.state).toBe('succeeded');
    expect(await emitsOf('approval', 1)).toEqual([{ approved: { title: 'a lamp' }, run: approved.id }]);
  }, 120_000);

  it('signup-lookup answers an agent, also with a key that opens nothing else', async () => {
    const form = 'name=Grace&email=grace@example.com';
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await send(await endpointOf('form-to-store'), { headers, body: form })).status).toBe(201);
    const body = { name: 'assistant', tools: ['find_signup'], read_only: true };
    const { data } = await api.expect<Data<{ key: string }>>(200, 'POST', '/v1/api_keys', { body });
    const ask = async (method: string, params: object): Promise<unknown> => {
      const answer = await send(`${server.url}/mcp`, {
        headers: { authorization: `Bearer ${data.key}`, accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method, params },
      });
      return (jsonOf(answer) as { result: unknown }).result;
    };
    const call = (given: object): Promise<unknown> => ask('tools/call', { name: 'find_signup', arguments: given });

    expect(await ask('tools/list', {})).toMatchObject({
      tools: [{ name: 'find_signup', annotations: { readOnlyHint: true } }],
    });
    const found = { found: true, name: 'Grace' };
    expect(await call({ email: ' Grace@example.com' })).toMatchObject({
      content: [{ type: 'text', text: JSON.stringify(found) }],
      structuredContent: { state: 'succeeded', result: found },
    });
    expect(await call({ email: 'nobody@example.com' })).toMatchObject({
      structuredContent: { result: { found: false } },
    });
    expect(await call({ mail: 'grace@example.com' })).toMatchObject({ isError: true });
  }, 120_000);
});
