import { describe, expect, it } from '@jest/globals';
import { changedSettings } from './changes.js';
import { type JsonObject } from './check-shape.js';
import { plainDefinition } from './plain-definition.js';
import { type HttpTrigger } from '../published.js';
import { settingsOf } from './settings.js';
import { planTriggers, restorable, type TriggerRequest } from './triggers.js';

const plain = (definition: JsonObject): JsonObject => plainDefinition(definition, (id) => id === 'dc_known');

describe('the plain form of a definition', () => {
  it('has known keys in one order, without defaults and what is no part of a version', () => {
    const given = {
      steps: [{ props: {}, code: 'c', namespace: 'a', disabled: false, on_error: 'stop', colour: 'red' }],
      settings: { active: false, queue_size: 100, concurrency: null, timeout_seconds: 5 },
      name: 'w',
      external_id: 'x',
      description: 'd',
      schema: 'workflow/2022.04',
      strict: true,
      files: {},
    };
    expect(JSON.stringify(plain(given))).toBe(
      JSON.stringify({ settings: { timeout_seconds: 5 }, steps: [{ namespace: 'a', code: 'c' }] }),
    );
  });

  it('is the same when it is made again', () => {
    const once = plain({
      settings: { auto_retry: { also_on: ['Timeout'] }, data_retention: 'none' },
      triggers: [{ type: 'http', response: 'static', static_response: { status: 200, body: 'b' } }],
      steps: [{ namespace: 'a', uses: 'k', retry: { max_retries: 0, backoff: 'exponential' }, props: { a: null } }],
      files: { 'a.js': 'x' },
    });
    expect(plain(once)).toEqual(once);
    expect(once).toMatchObject({ steps: [{ retry: { max_retries: 0 }, props: { a: null } }] });
  });

  it('keeps steps without any, because a change with that key replaces the definition', () =>
    expect(plain({ name: 'w' })).toEqual({ steps: [] }));

  it('follows the import rule', () =>
    expect(plain({ triggers: [{ id: 'hi_Z-1' }, { id: 'ti_1' }, { id: 'dc_known' }, { id: 'dc_other' }] })).toEqual({
      triggers: [
        { type: 'http', name: 'hi_Z_1' },
        { type: 'source', id: 'dc_known' },
      ],
      steps: [],
    }));
});

describe('settings', () => {
  it('have their defaults', () =>
    expect(settingsOf({})).toEqual({
      errorNotification: true,
      timeoutSeconds: null,
      memoryMb: 256,
      concurrency: null,
      holdSlot: false,
      throttle: null,
      queueSize: 100,
      autoRetry: null,
      dataRetention: null,
      publicSse: false,
    }));

  it('are read from a definition', () =>
    expect(
      settingsOf({
        settings: {
          auto_retry: true,
          data_retention: { days: 3 },
          throttle: { limit: 0, interval: 1, unit: 'hour' },
          error_notification: false,
        },
      }),
    ).toMatchObject({
      autoRetry: { notifyFirstError: false, alsoOn: [] },
      dataRetention: { runs: null, days: 3 },
      throttle: { limit: 0, interval: 1, unit: 'hour' },
      errorNotification: false,
    }));

  it('are changed by key, and null means the default', () => {
    const before = plain({ settings: { queue_size: 5, hold_slot: true }, steps: [{ namespace: 'a', code: 'c' }] });
    expect(changedSettings(before, { queue_size: null, memory_mb: 64 })).toEqual({
      settings: { memory_mb: 64, hold_slot: true },
      steps: [{ namespace: 'a', code: 'c' }],
    });
    expect(changedSettings(before, { active: true })).toBeUndefined();
    expect(changedSettings(before, undefined)).toBeUndefined();
  });
});

describe('triggers', () => {
  let keys = 0;
  const request: TriggerRequest = {
    workflowId: 'p_1',
    before: [],
    newSourceId: () => 'dc_1',
    newKey: () => `e${keys++}`,
    newHash: (token) => ({ salt: 's', keyHash: `hash of ${token}` }),
    matches: ({ keyHash }, token) => keyHash === `hash of ${token}`,
    now: 1_000,
  };
  const planOf = (triggers: readonly object[], before: TriggerRequest['before'] = []) =>
    planTriggers({ triggers }, { ...request, before });

  it('have names that no other has, and ids that follow from them', () => {
    const { triggers } = planOf([{ type: 'http' }, { type: 'http' }, { type: 'manual', name: 'http_2' }]);
    expect(triggers.map(({ name }) => name)).toEqual(['http', 'http_3', 'http_2']);
    expect(planOf([{ type: 'http' }]).triggers[0]).toMatchObject({ id: (triggers[0] as { id: string }).id });
  });

  it('come back with the tokens and addresses of a former version, and the sources and ticks in force', () => {
    const withToken = (token: string) => ({ type: 'http', name: 'hook', auth: { type: 'bearer', token } });
    const gone = { type: 'http', name: 'gone' };
    const timer = { type: 'timer', interval_seconds: 60 };
    const own = { type: 'source', name: 'own', uses: 'orders' };
    const plan = (triggers: readonly object[], before: TriggerRequest['before'], time: number) =>
      planTriggers({ triggers }, { ...request, before, now: time, newSourceId: () => `dc_${time}` });
    const former = plan([withToken('token-of-one'), gone, timer, own], [], 1_000);
    const inForce = plan([withToken('token-of-two'), timer, own], [], 2_000).triggers;
    const restored = plan(former.definition['triggers'] as object[], restorable(former.triggers, inForce), 3_000);
    expect(restored.faults).toEqual([]);
    const [hook, addressed, ticking, source] = former.triggers;
    const [hookNow, tickingNow, sourceNow] = inForce;
    expect(restored.triggers).toEqual([
      { ...hookNow, auth: (hook as HttpTrigger).auth },
      addressed,
      tickingNow,
      sourceNow,
    ]);
    expect(hookNow).not.toMatchObject({ auth: (hook as HttpTrigger).auth });
    expect([tickingNow, sourceNow]).not.toEqual([ticking, source]);
    const alone = plan(former.definition['triggers'] as object[], restorable(former.triggers, []), 3_000);
    expect(alone.triggers.slice(0, 2)).toEqual([hook, addressed]);
    expect(alone.sources).toMatchObject([{ sourceId: 'dc_3000', isNew: true }]);
  });

  it('keep their own sources by name, and do not name one that goes', () => {
    let ids = 0;
    const plan = (triggers: readonly object[], before: TriggerRequest['before'] = []) =>
      planTriggers({ triggers }, { ...request, before, newSourceId: () => `dc_${++ids}` });
    const own = (name: string): object => ({ type: 'source', name, uses: 'orders', props: { n: 1 } });
    const first = plan([own('a'), own('b')]);
    expect(first.triggers).toMatchObject([
      { emitterId: 'dc_1', isOwned: true },
      { emitterId: 'dc_2', isOwned: true },
    ]);
    const second = plan([own('b'), own('c'), { type: 'source', name: 'd', id: 'dc_2' }], first.triggers);
    expect(second.sources).toMatchObject([
      { at: 0, trigger: 'b', sourceId: 'dc_2', isNew: false, uses: 'orders', props: { n: 1 } },
      { at: 1, trigger: 'c', sourceId: 'dc_3', isNew: true },
    ]);
    expect(second.triggers[2]).not.toHaveProperty('isOwned');
    expect(second.faults).toEqual([]);
    const byId = [
      { type: 'source', name: 'a', id: 'dc_1' },
      { type: 'event', emitter: 'dc_2' },
    ];
    expect(plan(byId, first.triggers).faults).toMatchObject([
      { path: ['triggers', 0, 'id'], code: 'unresolved' },
      { path: ['triggers', 1, 'emitter'], code: 'unresolved' },
    ]);
  });

  it('keep their keys, and tokens whose mask or text is given', () => {
    const http = (token?: string): object => ({
      type: 'http',
      ...(token === undefined ? {} : { auth: { type: 'bearer', token } }),
    });
    const first = planOf([http('a')]);
    expect(first.definition['triggers']).toEqual([http('********')]);
    for (const same of ['a', '********']) expect(planOf([http(same)], first.triggers).triggers).toEqual(first.triggers);
    expect(planOf([http('b')], first.triggers).triggers).toEqual([
      { ...first.triggers[0], auth: { salt: 's', keyHash: 'hash of b' } },
    ]);
    expect(planOf([http()], first.triggers).triggers).toEqual([{ ...first.triggers[0], auth: null }]);
  });

  it('show the variable of a token, and keep it when the mask is given', () => {
    const http = (token: string): object => ({ type: 'http', auth: { type: 'bearer', token } });
    const first = planOf([http('{{process.env.TOKEN}}'), http('secret')]);
    expect(first.definition['triggers']).toEqual([http('{{process.env.TOKEN}}'), http('********')]);
    expect(first.triggers[0]).toMatchObject({ auth: { variable: 'TOKEN' } });
    const masked = planOf([http('********'), http('********')], first.triggers);
    expect([masked.definition, masked.triggers]).toEqual([first.definition, first.triggers]);
    expect(planOf([http('secret')], first.triggers).triggers[0]).toMatchObject({ auth: { keyHash: 'hash of secret' } });
  });

  it('are refused with a mask in the place of no token', () =>
    expect(
      planOf([{ type: 'manual' }, { type: 'http', auth: { type: 'bearer', token: '********' } }]).faults,
    ).toMatchObject([{ path: ['triggers', 1, 'auth', 'token'], code: 'format' }]));

  it('that tick keep the place of their ticks while their schedule stays', () => {
    const every = { type: 'timer', interval_seconds: 60 };
    const first = planTriggers({ triggers: [every] }, request).triggers;
    expect(first).toEqual([
      {
        kind: 'timer',
        id: expect.stringMatching(/^ti_[0-9a-z]{18}$/),
        name: 'timer',
        cron: null,
        intervalSeconds: 60,
        timezone: null,
        overlap: 'allow',
        changedAt: 1_000,
      },
    ]);
    const later = { ...request, before: first, now: 2_000 };
    const changedAt = (trigger: object): unknown =>
      (planTriggers({ triggers: [trigger] }, later).triggers[0] as { changedAt: number }).changedAt;
    expect(changedAt({ ...every, overlap: 'skip' })).toBe(1_000);
    expect(changedAt({ ...every, interval_seconds: 61 })).toBe(2_000);
    expect(changedAt({ type: 'timer', cron: '0 9 * * *' })).toBe(2_000);
    expect(changedAt({ ...every, name: 'other' })).toBe(2_000);
  });

  it('that are tools tell whether their name is given', () => {
    const input = { type: 'object', properties: { id: { type: 'string' } } };
    const annotations = { readOnlyHint: true };
    const { triggers } = planOf([
      { type: 'tool', description: 'Reads' },
      { type: 'tool', name: 'tool_3', description: 'Writes', input, annotations },
    ]);
    expect(triggers).toEqual([
      {
        kind: 'tool',
        name: 'tool',
        isNamed: false,
        description: 'Reads',
        input: { type: 'object' },
        annotations: null,
      },
      { kind: 'tool', name: 'tool_3', isNamed: true, description: 'Writes', input, annotations },
    ]);
  });

  it('that would start no run are refused', () =>
    expect(planOf([{ type: 'email' }]).faults).toMatchObject([{ path: ['triggers', 0, 'type'], code: 'unsupported' }]));
});
