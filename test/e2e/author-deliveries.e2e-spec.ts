import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { emitterCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { inTerminal, textOn } from '#test/harness/terminal.js';
import { eventually } from '#test/harness/wait.js';
import { always } from '#test/harness/webhook-receiver.js';

const instance = useInstance();
const { api, server } = instance;
const dir = tempDir('author-deliveries');
afterAll(() => removeDir(dir));
afterEach(() => instance.receiver.behave(always(200)));

const variables = () => ({
  PATH: process.env.PATH ?? '',
  HOME: dir,
  SLUICE_API_KEY: server.apiKey,
  SLUICE_URL: server.url,
});
const sluice = (...args: readonly string[]): Promise<Told> => runNode([CLI, ...args], variables(), dir);
const json = async (...args: readonly string[]): Promise<unknown> => {
  const { status, stdout, stderr } = await sluice(...args, '--json');
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  return (JSON.parse(stdout) as { data: unknown }).data;
};

let source: Source;
let webhook = '';
beforeAll(async () => {
  source = await instance.deploy(emitterCode(), {}, 'emitting');
  const made = (await json('webhooks', 'create', instance.receiver.url, '--name', 'shop', '--attempts', '1')) as {
    id: string;
    signing_key: string;
  };
  webhook = made.id;
  instance.receiver.trust(made.signing_key);
  await api.subscribe(source.id, webhook);
}, 120_000);

const deliveriesOf = (outcome: string, count: number): Promise<readonly { id: string }[]> =>
  eventually(`${count} deliveries: ${outcome}`, async () => {
    const query = { outcome };
    const reply = await api.call<{ data: { id: string }[] }>('GET', `/v1/webhooks/${webhook}/deliveries`, { query });
    return reply.body.data.length >= count ? reply.body.data : undefined;
  });

/** The numbers are those of the checks of the command line. */
describe('what a webhook was sent', () => {
  it('46: is listed, and sent again after a question or with --yes', async () => {
    instance.receiver.behave(always(503));
    await instance.post(source, [[1], [2]]);
    const failed = await deliveriesOf('final', 2);
    instance.receiver.behave(always(200));
    const listed = await sluice('webhooks', 'deliveries', 'shop', '--failed', '--since', '1h');
    expect(listed.stdout.trimEnd().split('\n')).toEqual(
      failed.map(({ id }) => expect.stringMatching(new RegExp(`Z {2}${id} {2}1 {2}final {2}503 {2}\\d+ ms$`))),
    );
    expect(await json('webhooks', 'deliveries', webhook, '--until', '1h')).toEqual([]);

    const again = ['webhooks', 'redeliver', 'shop', '--failed', '--since', '1h'];
    const refused = await sluice(...again);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toMatch(/Send 2 failed deliveries of wh_\w+ again\? Nobody can be asked here: add --yes/);
    const answers = [{ to: /Send 2 failed deliveries of wh_\w+ again\?/, type: 'y\n' }];
    const screen = await inTerminal(again, answers, { env: variables(), cwd: dir });
    expect(screen.status).toBe(0);
    expect(textOn(screen.shown)).toContain('2 sent again');
    await deliveriesOf('success', 2);

    const [{ id = '' } = {}] = failed;
    expect((await sluice('webhooks', 'redeliver', 'shop', id)).stdout).toBe(`${id}: sent again\n`);
    await deliveriesOf('success', 3);
    for (const wrong of [[], [id, '--failed'], [id, '--since', '1h']])
      expect((await sluice('webhooks', 'redeliver', 'shop', ...wrong)).status).toBe(2);
  }, 120_000);

  it('follows attempts, each of them', async () => {
    const following = sluice('webhooks', 'deliveries', 'shop', '-f', '-n', '1', '--count', '2', '--json');
    const ended = following.then(() => true);
    for (let n = 0; !(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 500, false))])); n++)
      await instance.post(source, [[n]]);
    const { status, stdout } = await following;
    expect(status).toBe(0);
    const ids = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(3);
  }, 60_000);

  // docs/reference/rest-api.md#webhook-test
  it('is tested at once, signed, and ends with 1 when the answer is above 299', async () => {
    const before = instance.receiver.received.length;
    const told = await sluice('webhooks', 'test', 'shop', '--payload', '{"big":3544790567247868102}');
    expect(told).toMatchObject({ status: 0, stderr: '' });
    expect(told.stdout).toMatch(/dlv_\w+ {2}1 {2}success {2}200 {2}\d+ ms\n/);
    const [sent] = instance.receiver.received.slice(before);
    expect(sent?.headers).toMatchObject({ 'x-pd-test': 'true', 'x-pd-webhook-id': webhook });
    expect(sent?.headers['webhook-signature']).toMatch(/^v1,/);
    instance.receiver.behave(always(503));
    expect((await sluice('webhooks', 'test', 'shop', '--json')).status).toBe(1);
    expect((await sluice('webhooks', 'test', 'nobody')).status).toBe(4);
  });

  it('has a new signing key, which is printed once', async () => {
    const told = await sluice('webhooks', 'rotate-key', 'shop');
    expect(told.status).toBe(0);
    const [, key = ''] = /signing key, shown this once: (whsec_\S+)\n/.exec(told.stdout) ?? [];
    instance.receiver.trust(key);
    expect((await sluice('webhooks', 'test', 'shop')).status).toBe(0);
  });
});

describe('sluice replay', () => {
  it('47: sends kept events again, and ends with the last of them', async () => {
    const other = await instance.deploy(emitterCode(), {}, 'replayed');
    await instance.post(
      other,
      Array.from({ length: 10 }, (_, n) => [{ n }]),
    );
    const kept = await instance.history(other, 10);
    await api.subscribe(other.id, webhook);
    const before = instance.receiver.received.length;
    const startedAt = performance.now();
    const told = await sluice('replay', 'replayed', 'shop', '--rate', '5');
    const ms = performance.now() - startedAt;
    expect(told).toMatchObject({ status: 0, stderr: '' });
    expect(told.stdout).toMatch(/^rpl_\w+: 10 events sent again\n$/);
    expect(ms).toBeGreaterThan(1_500);
    await eventually('ten events', () => (instance.receiver.received.length >= before + 10 ? true : undefined));
    const range = ['--from', kept[8]?.id ?? '', '--to', '2100-01-01'];
    expect((await sluice('replay', 'replayed', 'shop', ...range)).stdout).toMatch(/: 2 events sent again\n$/);
    const none = await sluice('replay', 'emitting', 'shop', '--cancel');
    expect(none).toMatchObject({ status: 4, stdout: '' });
  }, 60_000);

  it('refuses what is no subscription, time or rate', async () => {
    const loose = await sluice('replay', 'emitting', 'shop', '--channel', 'x');
    expect(loose.status).toBe(4);
    expect(loose.stderr).toMatch(/wh_\w+ is not subscribed to dc_\w+ \(x\)\. "sluice list subscriptions" shows all\./);
    expect((await sluice('replay', 'emitting', 'shop', '--rate', '101')).status).toBe(2);
    expect((await sluice('replay', 'emitting', 'shop', '--from', 'dawn')).status).toBe(2);
  });
});
