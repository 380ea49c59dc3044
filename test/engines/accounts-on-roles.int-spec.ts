import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accountOf, connectAccount, oauthBody } from '#test/harness/accounts.js';
import { type ApiClient, type Source } from '#test/harness/api-client.js';
import { clientOf } from '#test/harness/client-of.js';
import { componentCode } from '#test/harness/component-code.js';
import { Deployment } from '#test/harness/deployment.js';
import { Instance } from '#test/harness/instance.js';
import { type HeldRequest, TokenServer } from '#test/harness/token-server.js';
import { eventually } from '#test/harness/wait.js';

/** Six processes bind accounts here: two that take commands and two that run sources, beside one of each other role. */
let instance: Instance<Deployment>;
let deployment: Deployment;
let api: ApiClient;
let tokens: TokenServer;

beforeAll(async () => {
  tokens = await TokenServer.start();
  deployment = new Deployment({ copies: { 'command-api': 2, runner: 2 } });
  instance = new Instance(deployment);
  ({ api } = instance);
  await instance.start();
}, 400_000);

afterAll(async () => {
  await instance.close();
  await tokens.close();
}, 120_000);

const user = (n: number): string =>
  componentCode({
    name: `User ${n}`,
    props: `slack: { type: 'app', app: 'slack' }, http: '$.interface.http',
      choice: { type: 'string', optional: true, async options() { return [this.slack.$auth.oauth_access_token]; } }`,
    members: `run({ body }) { this.$emit({ n: body.n, with: this.slack.$auth.oauth_access_token.split('-').at(-1) }); },`,
  });
const deploy = (account: string, n = 0): Promise<Source> =>
  api.createSource({ component_code: user(n), configured_props: { slack: { authProvisionId: account } } });
const post = async (source: Source, n: number): Promise<void> =>
  expect((await instance.post(source, { n })).status).toBe(200);
const untilEmitted = async (source: Source, count: number, timeoutMs = 60_000): Promise<readonly unknown[]> =>
  (await instance.history(source, count, undefined, timeoutMs)).map(({ event }) => event);
const errorsOf = (source: Source, count: number): Promise<readonly unknown[]> =>
  instance.payloads(source, count, '$errors');

describe('a token that every process needs at once', () => {
  it('is asked for once, and all of them use the answer', async () => {
    const account = await connectAccount(api, tokens, 'shared-0');
    const sources = await Promise.all(Array.from({ length: 6 }, (_, n) => deploy(account, n)));
    expect(tokens.askedFor('shared')).toEqual([]);
    tokens.delayMs = 1_000;
    const body = (source: Source) => ({
      id: source.component_id,
      prop_name: 'choice',
      configured_props: { slack: { authProvisionId: account } },
    });
    const clients = deployment.processes['command-api'].map((server) => clientOf(server, deployment));
    const forms = clients.flatMap((client) =>
      sources
        .slice(0, 2)
        .map(async (source) => (await client.call('POST', '/v1/components/configure', { body: body(source) })).text),
    );
    const [answers] = await Promise.all([Promise.all(forms), ...sources.map((source) => post(source, 1))]);
    for (const answer of answers) expect(answer).toContain('"string_options":["');
    for (const source of sources) expect(await untilEmitted(source, 1)).toEqual([{ n: 1, with: '1' }]);
    expect(tokens.askedFor('shared')).toEqual(['shared-0']);
    expect(tokens.overlaps).toEqual([]);
    tokens.delayMs = 0;
    await Promise.all(clients.map((client) => client.close()));
  }, 240_000);
});

describe('runners that are killed right after the first use of a rotated token', () => {
  it('go on with the refresh token that came with it', async () => {
    const short = await TokenServer.start({ expiresIn: 8 });
    try {
      const account = await connectAccount(api, short, 'rotated-0');
      const source = await deploy(account);
      for (const n of [1, 2]) {
        await post(source, n);
        expect((await untilEmitted(source, n)).at(-1)).toEqual({ n, with: String(n) });
        // Before half of its lifetime, when the next refresh begins.
        await Promise.all(deployment.processes.runner.map((runner) => runner.kill9()));
        await Promise.all(deployment.processes.runner.map((runner) => runner.start()));
        await pause(Math.max(0, short.answeredAt + 9_000 - Date.now()));
      }
      await post(source, 3);
      expect((await untilEmitted(source, 3)).at(-1)).toEqual({ n: 3, with: '3' });
      expect(short.asked.slice(0, 3)).toEqual(['rotated-0', 'rotated-1', 'rotated-2']);
      expect(await accountOf(api, account)).toMatchObject({ dead: false, error: null });
    } finally {
      await short.close();
    }
  }, 240_000);
});

describe('runners that are killed while they wait for a token server', () => {
  let keeping: TokenServer;
  beforeAll(async () => {
    keeping = await TokenServer.start({ rotates: false });
  });
  afterAll(() => keeping.close());

  const askedOnce = (server: TokenServer): Promise<HeldRequest> =>
    eventually('the token server is asked', () => server.unanswered[0], 60_000);

  it('run the waiting event with a token that is still good, and say that a rotated one may be lost', async () => {
    const [kept, lost] = [
      await connectAccount(api, keeping, 'kept-0'),
      await connectAccount(api, tokens, 'lost-0'),
    ] as const;
    const [going, ended] = [await deploy(kept), await deploy(lost)] as const;
    for (const server of [keeping, tokens]) server.hold();
    await Promise.all([going, ended].map((source) => post(source, 1)));
    const asked = await Promise.all([keeping, tokens].map(askedOnce));
    // At once, because a request without an answer fails after ten seconds.
    await Promise.all(deployment.processes.runner.map((runner) => runner.kill9()));
    await Promise.all(asked.map(({ gone }) => gone));
    for (const server of [keeping, tokens]) server.answerAgain();
    await Promise.all(deployment.processes.runner.map((runner) => runner.start()));

    expect(await untilEmitted(going, 1, 150_000)).toEqual([{ n: 1, with: '1' }]);
    expect(await errorsOf(going, 0)).toEqual([]);
    expect(await accountOf(api, kept)).toMatchObject({ healthy: true, error: null });
    const errors = await errorsOf(ended, 1);
    expect(JSON.stringify(errors)).toContain(`PUT /v1/accounts/${lost}`);
    const told = await accountOf(api, lost);
    expect(told).toMatchObject({ dead: true });
    expect(told.error).toMatch(/an earlier refresh was interrupted before its token was stored.*may be lost/);
    expect(tokens.askedFor('lost')).toEqual(['lost-0', 'lost-0']);

    await api.expect(200, 'PUT', `/v1/accounts/${lost}`, { body: oauthBody(tokens, 'found-0') });
    await post(ended, 2);
    expect(await untilEmitted(ended, 1)).toEqual([{ n: 2, with: '1' }]);
    expect(await accountOf(api, lost)).toMatchObject({ healthy: true, dead: false, error: null });
  }, 400_000);
});
