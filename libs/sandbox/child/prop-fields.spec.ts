import { describe, expect, it } from '@jest/globals';
import { type ComponentObject } from './component.js';
import { describeComponent } from './describe.js';
import { InvalidComponent } from './invalid-component.js';

const described = (p: unknown, more: Partial<ComponentObject> = {}) => {
  const http = more.type === 'action' ? {} : { http: '$.interface.http' };
  const { configurableProps, warnings } = describeComponent({
    name: 'n',
    run: () => undefined,
    props: { ...http, p },
    ...more,
  });
  return { prop: configurableProps.at(-1), warnings };
};
const refused = (p: unknown, more: Partial<ComponentObject> = {}): InvalidComponent => {
  try {
    described(p, more);
  } catch (error) {
    if (error instanceof InvalidComponent) return error;
    throw error;
  }
  throw new Error('it was accepted');
};

const SCALARS = ['string', 'integer', 'boolean', 'string[]', 'integer[]', 'boolean[]'];
const EVERYWHERE = [...SCALARS, 'object', 'any', 'alert', 'data_store', 'http_request', 'dir', '$.discord.channel[]'];

describe('a prop of type', () => {
  it.each(EVERYWHERE)('%s is one of sources and actions', (type) => {
    expect(described({ type }).prop).toMatchObject({ name: 'p', type });
    expect(described({ type }, { type: 'action' }).prop).toMatchObject({ name: 'p', type });
  });

  it('$.service.db is one of sources and actions', () => {
    expect(described({ type: '$.service.db' }).prop).toMatchObject({ type: '$.service.db' });
    expect(described({ type: '$.service.db' }, { type: 'action' }).prop).toMatchObject({ type: '$.service.db' });
  });

  it.each(['$.interface.http', '$.interface.timer', '$.interface.apphook'])(
    '%s is one of sources, and refused in an action by its name',
    (type) => {
      expect(described({ type }).prop).toMatchObject({ type });
      const error = refused({ type }, { type: 'action' });
      expect([error.prop, error.message]).toEqual(['p', expect.stringContaining(type)]);
    },
  );

  it.each(['object[]', 'any[]', 'app[]', 'alert[]', 'data_store[]', 'http_request[]', '$.interface.http[]', 'dir[]'])(
    '%s does not exist: the refusal names prop and type',
    (type) => {
      const error = refused({ type, app: 'a' });
      expect([error.prop, error.message]).toEqual(['p', expect.stringContaining(type)]);
    },
  );

  it.each([[undefined], [null], [5], [''], [{}]])('%j is refused by the name of the prop', (type) => {
    expect(refused({ type }).prop).toBe('p');
  });

  it.each([[null], [5], [true], [[]], [() => 'string']])('written as %p is refused by the name of the prop', (p) => {
    expect(refused(p).prop).toBe('p');
  });
});

describe('a field of the wrong kind', () => {
  it.each<[string, unknown, string]>([
    ['label', 5, 'a text'],
    ['description', {}, 'a text'],
    ['content', 5, 'a text'],
    ['optional', 'yes', 'true or false'],
    ['secret', 1, 'true or false'],
    ['disabled', 'true', 'true or false'],
    ['hidden', 0, 'true or false'],
    ['readOnly', 'x', 'true or false'],
    ['useQuery', 1, 'true or false'],
    ['reloadProps', 'true', 'true or false'],
    ['withLabel', 1, 'true or false'],
    ['min', '5', 'a number'],
    ['max', true, 'a number'],
    ['default', () => 1, 'a value, not a function'],
  ])('%s: %p is left out with a warning', (key, given, kind) => {
    const { prop, warnings } = described({ type: 'integer', [key]: given });
    expect(prop).toEqual({ name: 'p', type: 'integer' });
    expect(warnings).toContainEqual({
      code: 'wrong_kind',
      path: `props.p.${key}`,
      message: expect.stringContaining(`${key} must be ${kind}`),
    });
  });

  it.each(['label', 'description', 'optional', 'min', 'options'])('%s: null is no value', (key) => {
    expect(described({ type: 'integer', [key]: null })).toEqual({ prop: { name: 'p', type: 'integer' }, warnings: [] });
  });

  it.each([['a'], [5], [{ a: 1 }], [true]])('options: %j is refused', (options) => {
    expect(refused({ type: 'string', options }).message).toMatch(/options of type .* not supported for prop p/);
  });

  it.each([[null], [undefined], [['a']], [{ label: 'A' }], [{ lable: 'A', vlaue: 1 }]])(
    'options: [%j] is refused',
    (option) => {
      expect(refused({ type: 'string', options: [option] }).message).toMatch(/an option must be a text, a number/);
    },
  );
});

describe('fields that the type does not have', () => {
  it.each(['integer', 'boolean', 'object', 'any', 'string[]'])('secret of %s is told to be without effect', (type) => {
    expect(described({ type, secret: true }).warnings).toEqual([
      {
        code: 'ignored_key',
        path: 'props.p.secret',
        message: `prop "p": secret is for type string, not ${type}; the value is not kept secret`,
      },
    ]);
  });

  it.each(['string', 'boolean', 'object', 'any', 'string[]'])('min and max of %s are told to be ignored', (type) => {
    const { warnings } = described({ type, min: 1, max: 2 });
    expect(warnings.map(({ code, path }) => [code, path])).toEqual([
      ['ignored_key', 'props.p.min'],
      ['ignored_key', 'props.p.max'],
    ]);
  });
});

describe('propDefinition', () => {
  const app = {
    type: 'app',
    app: 'shop',
    propDefinitions: { item: { type: 'integer', label: 'Item', min: 1 }, list: { propDefinition: [null, 'item'] } },
  };

  it('is resolved from an app, from any object with propDefinitions, and below other keys', () => {
    const label = 'Own';
    for (const owner of [app, { propDefinitions: app.propDefinitions }])
      for (const reference of [
        [owner, 'item'],
        [owner, 'item', { a: 1 }],
        [owner, 'item', () => ({})],
      ])
        expect(described({ propDefinition: reference, label }).prop).toEqual({
          name: 'p',
          type: 'integer',
          label,
          min: 1,
        });
  });

  it.each<[string, unknown, RegExp]>([
    ['text', 'item', /must be an array \[app, name\] or \[app, name, values\]/],
    ['one element', [app], /must be an array \[app, name\]/],
    ['no app', [{ type: 'app' }, 'item'], /must be an app with propDefinitions/],
    ['null', [null, 'item'], /must be an app with propDefinitions/],
    ['an unknown name', [app, 'itme'], /app "shop" has no propDefinition "itme"; it has item, list.*item/],
    ['an inherited name', [app, 'constructor'], /has no propDefinition "constructor"/],
    ['a broken definition', [app, 'list'], /must be an app with propDefinitions/],
  ])('of %s is refused by the name of the prop', (_, propDefinition, message) => {
    const error = refused({ propDefinition });
    expect([error.prop, error.message]).toEqual(['p', expect.stringMatching(message)]);
  });
});
