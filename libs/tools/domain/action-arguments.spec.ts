import { describe, expect, it } from '@jest/globals';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { configuredProps } from './action-arguments.js';

const props: readonly ConfigurableProp[] = [
  { name: 'github', type: 'app', app: 'github' },
  { name: 'title', type: 'string' },
  { name: 'token', type: 'string', secret: true, optional: true },
  { name: 'internal', type: 'string', hidden: true },
];
const configured = (
  given: Readonly<Record<string, unknown>>,
  { accounts = [] as readonly string[], hasAdditionalProps = false, configurableProps = props } = {},
) => configuredProps({ configurableProps, hasAdditionalProps }, given, () => accounts);
const refusal = (message: string) => ({ failure: { name: 'InvalidArguments', message } });

describe('configured props of a call', () => {
  it('are the arguments as they are', () => {
    expect(configured({ title: 5 })).toEqual({ props: { title: 5 } });
    expect(configured({ title: null })).toEqual({ props: { title: null } });
  });

  it('have the one account of an app', () => {
    expect(configured({ title: 'x' }, { accounts: ['apn_1'] })).toEqual({
      props: { github: { authProvisionId: 'apn_1' }, title: 'x' },
    });
  });

  it('have the account that the call chose of several', () => {
    expect(configured({ github: 'apn_2' }, { accounts: ['apn_1', 'apn_2'] })).toEqual({
      props: { github: { authProvisionId: 'apn_2' } },
    });
  });

  it('have no account when the call chose none of several, and what is no id as it is', () => {
    expect(configured({}, { accounts: ['apn_1', 'apn_2'] })).toEqual({ props: {} });
    expect(configured({ github: 7 }, { accounts: ['apn_1', 'apn_2'] })).toEqual({ props: { github: 7 } });
  });

  it.each(['apn_9', '', { authProvisionId: 'apn_9' }, { authProvisionId: 'apn_9', more: 1 }])(
    'have no account that is none of the prop: %j',
    (github) => {
      const id = typeof github === 'string' ? github : github.authProvisionId;
      expect(configured({ title: 'x', github }, { accounts: ['apn_1', 'apn_2'] })).toEqual(
        refusal(`argument github must be one of apn_1, apn_2; got ${JSON.stringify(id)}`),
      );
    },
  );

  it('have the account in the form of a configured prop too', () => {
    const github = { authProvisionId: 'apn_2' };
    expect(configured({ github }, { accounts: ['apn_1', 'apn_2'] })).toEqual({ props: { github } });
  });

  it('tell few of many accounts', () => {
    const accounts = Array.from({ length: 40 }, (_, i) => `apn_${i}`);
    expect(configured({ github: 'x'.repeat(500) }, { accounts })).toEqual(
      refusal(
        `argument github must be one of ${accounts.slice(0, 30).join(', ')}, and 10 more; got "${'x'.repeat(100)}"`,
      ),
    );
  });

  it('have no account of an app without one', () => {
    expect(configured({})).toEqual({ props: {} });
  });

  it.each(['token', 'internal', 'github', 'nothing'])('are refused with the argument %s', (name) => {
    expect(configured({ title: 'x', [name]: 'y' })).toEqual(
      refusal(`there is no argument ${JSON.stringify(name)}: give title`),
    );
  });

  it('take any name but that of a prop which is left out, when the action adds props', () => {
    expect(configured({ more: 1 }, { hasAdditionalProps: true })).toEqual({ props: { more: 1 } });
    expect(configured({ internal: 1 }, { hasAdditionalProps: true })).toEqual(
      refusal('there is no argument "internal": give title'),
    );
    expect(configured({ token: 1 }, { hasAdditionalProps: true })).toHaveProperty('failure');
  });

  it('keep an argument with the name of a member of every object as a value', () => {
    const given = JSON.parse('{"__proto__": {"x": 1}, "constructor": 1}') as Record<string, unknown>;
    const found = configured(given, { hasAdditionalProps: true });
    expect(JSON.stringify(found)).toBe('{"props":{"__proto__":{"x":1},"constructor":1}}');
  });

  it('tell of a tool without arguments, and list few of many', () => {
    expect(configured({ x: 1 }, { configurableProps: [] })).toEqual(
      refusal('there is no argument "x": the tool takes none'),
    );
    const configurableProps = Array.from({ length: 40 }, (_, i) => ({ name: `p${i}`, type: 'string' }));
    expect(configured({ ['x'.repeat(5_000)]: 1 }, { configurableProps })).toEqual(
      refusal(
        `there is no argument "${'x'.repeat(100)}": give ${configurableProps
          .slice(0, 30)
          .map(({ name }) => name)
          .join(', ')}, and 10 more`,
      ),
    );
  });
});
