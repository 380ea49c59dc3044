import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { actionSchema, hasAskedOptions, isAsked, needsSecret } from './action-schema.js';

const noAccounts = (): readonly string[] => [];
const action = (configurableProps: readonly ConfigurableProp[], hasAdditionalProps = false) => ({
  configurableProps,
  hasAdditionalProps,
});
const schemaOf = (prop: Omit<ConfigurableProp, 'name'>, accounts: readonly string[] = []): unknown => {
  const schema = actionSchema(action([{ name: 'x', ...prop }]), () => accounts);
  expect(new Ajv2020({ strict: false }).validateSchema(schema)).toBe(true);
  return (schema['properties'] as Record<string, unknown>)['x'];
};

describe('schema of a prop', () => {
  it.each([
    ['string', { type: 'string' }],
    ['integer', { type: 'integer' }],
    ['boolean', { type: 'boolean' }],
    ['string[]', { type: 'array', items: { type: 'string' } }],
    ['integer[]', { type: 'array', items: { type: 'integer' } }],
    ['boolean[]', { type: 'array', items: { type: 'boolean' } }],
    ['object', { type: 'object' }],
    ['http_request', { type: 'object' }],
    ['sql', { type: 'object' }],
    ['data_store', { type: 'string' }],
    ['$.discord.channel', { type: 'string' }],
    ['$.discord.channel[]', { type: 'array', items: { type: 'string' } }],
    ['$.airtable.tableid', { type: 'string' }],
    ['any', {}],
    ['colour', {}],
  ])('of type %s', (type, schema) => {
    expect(schemaOf({ type })).toEqual(schema);
  });

  it('has the range of integers, and of none but integers', () => {
    expect(schemaOf({ type: 'integer', min: 0, max: 9 })).toEqual({ type: 'integer', minimum: 0, maximum: 9 });
    expect(schemaOf({ type: 'integer[]', min: 1 })).toEqual({ type: 'array', items: { type: 'integer', minimum: 1 } });
    expect(schemaOf({ type: 'string', min: 1 })).toEqual({ type: 'string' });
  });

  it('has label, description and default', () => {
    expect(schemaOf({ type: 'string', label: 'Name', description: 'Of the issue', default: 'new' })).toEqual({
      type: 'string',
      title: 'Name',
      description: 'Of the issue',
      default: 'new',
    });
  });

  it('has the values of options, and their labels in the description', () => {
    const options = ['a', { label: 'Beta', value: 'b' }, { label: 'c', value: 'c' }, { label: 'Again', value: 'a' }];
    expect(schemaOf({ type: 'string', description: 'One of them', options })).toEqual({
      type: 'string',
      enum: ['a', 'b', 'c'],
      description: 'One of them\nMeanings: "b": Beta; "a": Again',
    });
  });

  it('has the options of an array for its items', () => {
    expect(schemaOf({ type: 'integer[]', options: [1, 2] })).toEqual({
      type: 'array',
      items: { type: 'integer', enum: [1, 2] },
    });
  });

  it('has no choice of nothing', () => {
    expect(schemaOf({ type: 'string', options: [] })).toEqual({ type: 'string' });
  });

  it('names the tool for options that the action computes', () => {
    expect(schemaOf({ type: 'string', remoteOptions: true })).toEqual({
      type: 'string',
      description: 'Values: tool sluice_options',
    });
    expect(schemaOf({ type: 'string', remoteOptions: true, description: 'A repository' })).toEqual({
      type: 'string',
      description: 'A repository\nValues: tool sluice_options',
    });
  });

  it('offers the accounts of an app when there are several', () => {
    expect(schemaOf({ type: 'app', app: 'github' }, ['apn_1', 'apn_2'])).toEqual({
      type: 'string',
      enum: ['apn_1', 'apn_2'],
    });
    expect(schemaOf({ type: 'app', app: 'github' }, ['apn_1'])).toBeUndefined();
    expect(schemaOf({ type: 'app', app: 'github' }, [])).toBeUndefined();
  });

  it.each<Partial<ConfigurableProp>>([
    { secret: true },
    { hidden: true },
    { disabled: true },
    { type: 'alert' },
    { type: 'dir' },
    { type: '$.service.db' },
  ])('does not exist for %j', (more) => {
    expect(schemaOf({ type: 'string', ...more })).toBeUndefined();
    expect(isAsked({ name: 'x', type: 'string', ...more }, noAccounts)).toBe(false);
  });
});

describe('schema of an action', () => {
  it('requires what has neither `optional` nor a default, and is asked for', () => {
    const props: readonly ConfigurableProp[] = [
      { name: 'needed', type: 'string' },
      { name: 'optional', type: 'string', optional: true },
      { name: 'preset', type: 'string', default: '' },
      { name: 'presetNull', type: 'string', default: null },
      { name: 'hidden', type: 'string', hidden: true },
      { name: 'github', type: 'app', app: 'github' },
      { name: 'slack', type: 'app', app: 'slack' },
    ];
    const accounts = { github: ['apn_1', 'apn_2'], slack: ['apn_3'] };
    const schema = actionSchema(action(props), ({ app }) => accounts[app as 'github' | 'slack']);
    expect(schema['required']).toEqual(['needed', 'presetNull', 'github']);
    expect(Object.keys(schema['properties'] as object)).toEqual([
      'needed',
      'optional',
      'preset',
      'presetNull',
      'github',
    ]);
  });

  it('is open when the action adds props, else closed', () => {
    expect(actionSchema(action([], true), noAccounts)).toEqual({
      type: 'object',
      properties: {},
      additionalProperties: true,
    });
    expect(actionSchema(action([]), noAccounts)['additionalProperties']).toBe(false);
  });

  it('keeps a prop whose name is one of every object', () => {
    const schema = actionSchema(action([{ name: 'constructor', type: 'string' }]), noAccounts);
    expect(Object.keys(schema['properties'] as object)).toEqual(['constructor']);
  });
});

describe('action with a secret', () => {
  it('cannot be a tool when it needs the secret', () => {
    expect(needsSecret(action([{ name: 'token', type: 'string', secret: true }]))).toBe(true);
  });

  it.each<Partial<ConfigurableProp>>([{ optional: true }, { default: 'x' }, { hidden: true }, { disabled: true }])(
    'can be a tool when the secret has %j',
    (more) => {
      expect(needsSecret(action([{ name: 'token', type: 'string', secret: true, ...more }]))).toBe(false);
    },
  );
});

describe('options of an action', () => {
  it('are asked of a tool when a prop that a call may give computes them', () => {
    expect(hasAskedOptions(action([{ name: 'x', type: 'string', remoteOptions: true }]), noAccounts)).toBe(true);
    expect(hasAskedOptions(action([{ name: 'x', type: 'string', options: ['a'] }]), noAccounts)).toBe(false);
    const hidden = { name: 'x', type: 'string', remoteOptions: true, hidden: true };
    expect(hasAskedOptions(action([hidden]), noAccounts)).toBe(false);
  });
});
