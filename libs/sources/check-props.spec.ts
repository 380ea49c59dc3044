import { describe, expect, it } from '@jest/globals';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { PlannedPropChecks } from './check-props.js';

const NOW = Date.UTC(2026, 0, 1);
const checks = new PlannedPropChecks(
  { find: (id) => (id === 'apn_known' ? { app: 'github' } : undefined) },
  { now: () => NOW },
);
const check = (props: readonly ConfigurableProp[], given: Record<string, unknown>) => checks.check(props, given, 'o_a');
const found = (props: readonly ConfigurableProp[], given: Record<string, unknown>): string[] =>
  check(props, given).faults.map(({ prop, kind }) => `${prop ?? ''} ${kind}`);

const app: ConfigurableProp = { name: 'github', type: 'app', app: 'github' };
const count: ConfigurableProp = { name: 'count', type: 'integer', min: 1 };
const list: ConfigurableProp = { name: 'list', type: 'integer[]' };
const key: ConfigurableProp = { name: 'key', type: 'string', secret: true };

describe('values of props', () => {
  it.each<[given: Record<string, unknown>, faults: readonly string[]]>([
    [{ count: 2, list: [1], key: 'k', github: { authProvisionId: 'apn_known' } }, []],
    [{}, ['count missing', 'list missing', 'key missing']],
    [{ count: 0, list: [1, 'x'], key: 7 }, ['count range', 'list type']],
    [{ count: 1, list: [], key: 'k', github: { authProvisionId: 'apn_other' } }, ['github unknown_account']],
    [{ count: 1, list: [], key: 'k', github: 'x' }, ['github type']],
    [{ count: 1, list: [], key: 'x'.repeat(65_537) }, ['key range']],
  ])('have all their faults told at once: %j', (given, faults) =>
    expect(found([app, count, list, key], given)).toEqual(faults),
  );

  it('have at most 50 faults', () => {
    const props = Array.from({ length: 80 }, (_, i): ConfigurableProp => ({ name: `p${i}`, type: 'string' }));
    expect(check(props, {}).faults).toHaveLength(50);
  });

  it('that are too large together are one fault', () => {
    const props = Array.from({ length: 20 }, (_, i): ConfigurableProp => ({ name: `p${i}`, type: 'string' }));
    const given = Object.fromEntries(props.map(({ name }) => [name, 'x'.repeat(60_000)]));
    expect(found(props, given)).toEqual([' range']);
  });

  it('do not show a secret', () => {
    const { faults } = check([{ name: 'key', type: 'string', secret: true }], { key: { hidden: 's3cret' } });
    expect(JSON.stringify(faults)).not.toContain('s3cret');
    expect(faults).toHaveLength(1);
  });

  it('are warned about as a deployment warns', () => {
    const { faults, warnings } = check([app, count], { count: 1, coumt: 2 });
    expect(faults).toEqual([]);
    expect(warnings.map(({ code }) => code)).toEqual(['no_account']);
    expect(check([{ ...count, optional: true }], { coumt: 2 }).warnings.map(({ code }) => code)).toEqual([
      'unknown_prop',
    ]);
  });
});
