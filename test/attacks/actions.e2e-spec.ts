import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient } from '#test/harness/api-client.js';
import { clientOf } from '#test/harness/client-of.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace } from '#test/harness/second-workspace.js';
import { eventually } from '#test/harness/wait.js';

/** Calls at once, and calls of one workspace that may wait. */
const SLOTS = 8;
const SLOW_RUNS = 50;

describe('a workspace that runs many slow actions', () => {
  const instance = useInstance({ env: { SLUICE_RUN_TIMEOUT_S: '20' } });
  let stranger: ApiClient;
  /** Two of the stranger, because one client has fewer connections than the queue has places. */
  let flooding: readonly [ApiClient, ApiClient];

  beforeAll(async () => {
    const { api, apiKey } = await addWorkspace(instance, 'mallory');
    stranger = api;
    flooding = [clientOf(instance.server, { apiKey }), clientOf(instance.server, { apiKey })];
  }, 120_000);
  afterAll(() => Promise.all([stranger, ...flooding].map((client) => client.close())));

  const save = async (api: ApiClient, run: string): Promise<string> => {
    const code = componentCode({ props: '', members: `type: 'action', ${run}` });
    const saved = await api.call<{ data: { id: string } }>('POST', '/v1/components', {
      body: { component_code: code },
    });
    return saved.body.data.id;
  };
  const run = (api: ApiClient, id: string) =>
    api.call<{ ret: unknown; code: string }>('POST', '/v1/actions/run', { body: { id } });

  it('does not delay the action of another, and is refused beyond its queue', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    instance.receiver.behave(() => ({ until: gate }));
    const slow = await save(stranger, `async run() { await fetch('${instance.receiver.url}'); }`);
    const quick = await save(instance.api, `run() { return 'done'; }`);
    const ended: number[] = [];
    const refusedOf = (): number => ended.filter((status) => status === 429).length;
    const all = Array.from({ length: SLOW_RUNS + SLOTS }, async (_, n) => {
      const reply = await run(flooding[n % 2 === 0 ? 0 : 1], slow);
      ended.push(reply.status);
      return reply;
    });
    await eventually('a full queue', () => (refusedOf() > 0 ? true : undefined));
    // A process that the stranger's key could name is not run for it either.
    expect((await run(stranger, quick)).status).toBe(404);
    const reply = await run(instance.api, quick);
    expect(reply.body.ret).toBe('done');
    // Control: every slow one still runs or waits, so a queue without turns would have kept this one waiting too.
    expect(ended.length).toBe(refusedOf());
    open();
    const replies = await Promise.all(all);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused[0]?.body.code).toBe('too_many_calls');
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(replies.length - refused.length);
    expect(refused.length).toBeLessThanOrEqual(SLOTS / 2);
  }, 180_000);
});

describe('an action that spoils its process', () => {
  // One of them never ends, so the call that spoils it takes this long.
  const instance = useInstance({ env: { SLUICE_RUN_TIMEOUT_S: '5' } });
  let stranger: ApiClient;

  beforeAll(async () => {
    stranger = (await addWorkspace(instance, 'mallory-of-processes')).api;
  }, 120_000);
  afterAll(() => stranger.close());

  const save = async (api: ApiClient, run: string): Promise<string> => {
    const code = componentCode({
      head: 'let count = 0, kept;',
      props: `spoil: { type: 'boolean', optional: true }, token: { type: 'string', optional: true }`,
      members: `type: 'action', ${run}`,
    });
    return (await api.createComponent(code)).id;
  };
  const run = async (api: ApiClient, id: string, configuredProps: object = {}): Promise<unknown> => {
    const reply = await api.call<{ ret: unknown }>('POST', '/v1/actions/run', {
      body: { id, configured_props: configuredProps },
    });
    return reply.status === 200 ? reply.body.ret : reply.status;
  };
  const LOOK = `async run({ $ }) {
    count++;
    const found = [typeof Object.prototype.toJSON, typeof globalThis.stolen, process.env.STOLEN, require('node:fs').existsSync('stolen')];
    $.export('found', 1);
    if (this.spoil) { SPOIL }
    return [count, found, JSON.stringify({ a: [1] })];
  }`;
  const CLEAN = [1, ['undefined', 'undefined', null, false], '{"a":[1]}'];

  /** Effects of a first call. Most spoil its own reply too. */
  const SPOILS: Readonly<Record<string, string>> = {
    'Object.prototype': `Object.defineProperty(Object.prototype, 'toJSON', { configurable: true, value: () => 'stolen' });`,
    JSON: `JSON.stringify = () => '["v",1]'; JSON.parse = () => ({});`,
    console: `console.log = (line) => { globalThis.stolen = line; };`,
    'what makes $': `Map.prototype.set = function (name, text) { globalThis.stolen = [name, text]; return this; };`,
    'what writes records': `const fs = require('node:fs'); fs.writeSync = () => 7; Buffer.prototype.write = () => 0;`,
    'turns of the event loop': `globalThis.setImmediate = () => undefined; Promise.prototype.then = () => undefined;`,
    'what outlives a call': `process.env.STOLEN = this.token; require('node:fs').writeFileSync('stolen', this.token); setInterval(() => { globalThis.stolen = kept; }, 10);`,
  };

  // docs/reference/component-model.md#action-process-reuse
  it.each(Object.entries(SPOILS))(
    'changes neither its own next call nor others by %s',
    async (_what, spoil) => {
      const { api } = instance;
      const spoiling = LOOK.replace('SPOIL', spoil);
      const spoiled = await save(stranger, spoiling);
      const neighbours = [
        { by: stranger, id: await save(stranger, LOOK.replace('SPOIL', '')) },
        { by: api, id: await save(api, spoiling) },
      ];
      await run(stranger, spoiled, { spoil: true, token: 'stolen' });
      expect(await run(stranger, spoiled)).toEqual(CLEAN);
      for (const { by, id } of neighbours) expect(await run(by, id)).toEqual(CLEAN);
      // Control: without a spoilt process the same one serves the next call, so the check above is not idle.
      for (const { by, id } of neighbours) expect(await run(by, id)).toEqual([2, ...CLEAN.slice(1)]);
    },
    60_000,
  );
});
