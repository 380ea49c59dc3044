import { describe, expect, it } from '@jest/globals';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type AdditionalPropsRequest, type DeployableComponent } from '#libs/components/published.js';
import { InMemoryVault } from '#libs/kernel/testing/control-plane.js';
import { AppHookPlans } from './app-hook-plans.js';
import { type SourceRecord } from './domain/source.js';
import { definition } from './testing/definitions.js';

const CHAT: ConfigurableProp = { name: 'chat', type: 'app', app: 'chat-app' };
const hook = (over: Partial<ConfigurableProp> = {}): ConfigurableProp => ({
  name: 'hook',
  type: '$.interface.apphook',
  appProp: 'chat',
  ...over,
});
const componentOf = (...configurableProps: ConfigurableProp[]): DeployableComponent => ({
  id: 'sc_1',
  key: null,
  name: 'Chat',
  kind: 'source',
  bundleHash: 'bundle-1',
  configurableProps,
  hooks: [],
  dedupe: null,
});

const SOURCE: SourceRecord = {
  sourceId: 'dc_1',
  userId: 'u_1',
  createdAt: 1,
  updatedAt: 1,
  unusedSecrets: [],
  name: 'Chat',
  nameSlug: 'chat',
  active: true,
  definition: definition(),
};

const planned = async (
  component: DeployableComponent,
  given: Readonly<Record<string, unknown>> = {},
  source?: SourceRecord,
) => {
  const asked: (readonly [AdditionalPropsRequest, string])[] = [];
  const names = {
    call: async (request: AdditionalPropsRequest, prop: string) => {
      asked.push([request, prop]);
      return ['of a call'];
    },
  };
  const plans = new AppHookPlans(names, new InMemoryVault());
  return { asked, ...(await plans.planned(definition(), { component, given, workspaceId: 'o_1', source })) };
};

describe('the apphooks of a source', () => {
  it('take their app from the prop that appProp names, and a list of event names as it is', async () => {
    const {
      definition: made,
      asked,
      warnings,
    } = await planned(componentOf(CHAT, hook({ eventNames: ['a', 'a', 'b'] })));
    expect(made.props).toEqual([
      { kind: 'apphook', prop: 'hook', appProp: 'chat', app: 'chat-app', eventNames: ['a', 'b'] },
    ]);
    expect(asked).toEqual([]);
    expect(warnings).toEqual([
      {
        code: 'unfed_apphook',
        path: 'props.hook',
        message: expect.stringContaining('POST /v1/apps/chat-app/events with {"event_name": "a", "payload"'),
      },
    ]);
  });

  it('warn no more of the request that feeds them when the source is updated', async () => {
    expect((await planned(componentOf(CHAT, hook({ eventNames: ['a'] })), {}, SOURCE)).warnings).toEqual([]);
  });

  it('ask the component for event names that are no list, with the given values and their secrets', async () => {
    const token: ConfigurableProp = { name: 'token', type: 'string', secret: true };
    const { definition: made, asked } = await planned(componentOf(CHAT, token, hook()), { token: 'hush', word: 'x' });
    expect(made.props).toMatchObject([{ eventNames: ['of a call'] }]);
    expect(asked).toMatchObject([
      [{ workspaceId: 'o_1', values: { token: 'hush', word: 'x' }, secrets: ['hush'] }, 'hook'],
    ]);
  });

  it('are not part of the definition of a source without one', async () => {
    expect((await planned(componentOf(CHAT))).definition).toEqual(definition());
  });

  it.each([[hook({ appProp: 'chta' })], [{ name: 'hook', type: '$.interface.apphook' }]])(
    'are left out with a warning when they name no app: %j',
    async (wrong) => {
      const { definition: made, warnings, asked } = await planned(componentOf(CHAT, wrong));
      expect([made.props, asked]).toEqual([[], []]);
      expect(warnings).toEqual([
        { code: 'silent_interface', path: 'props.hook', message: expect.stringContaining('allowed are chat)') },
      ]);
      const again = await planned({ ...componentOf(CHAT, wrong), warnings });
      expect(again.warnings).toEqual([]);
    },
  );

  it('are warned about when they name no event', async () => {
    const { definition: made, warnings } = await planned(componentOf(CHAT, hook({ eventNames: [] })));
    expect(made.props).toMatchObject([{ eventNames: [] }]);
    expect(warnings).toMatchObject([{ code: 'silent_interface', path: 'props.hook' }]);
  });

  const many = (prefix: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, n) => `${prefix}${n}`);

  it.each<[string, ConfigurableProp[], RegExp]>([
    ['an empty name', [hook({ eventNames: ['a', ''] })], /prop hook .*entry 1 has 0 characters, allowed are 1 to 200/],
    ['a long name', [hook({ eventNames: ['x'.repeat(201)] })], /entry 0 has 201 characters/],
    ['a NUL', [hook({ eventNames: ['a\0'] })], /without NUL/],
    [
      'too many over all props',
      [hook({ eventNames: many('a', 600) }), hook({ name: 'more', eventNames: many('b', 401) })],
      /prop more .*there are 1001 .*at most 1000/,
    ],
  ])('are refused by name: %s', async (_, hooks, text) => {
    const refused = planned(componentOf(CHAT, ...hooks));
    await expect(refused).rejects.toMatchObject({
      code: 'source.invalid_prop',
      message: expect.stringMatching(text),
    });
  });
});
