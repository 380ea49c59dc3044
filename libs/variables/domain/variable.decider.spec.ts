import { describe, expect, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type TokenHash } from '#libs/kernel/token-hash.js';
import { type VariableEvent } from '../published.js';
import { checkValue, hashOfValue, variable, type VariableCommand, variableId, type VariableState } from './variable.js';

const set: VariableEvent = {
  type: 'VariableSet',
  data: { name: 'A', valueRef: 'sec_1', replacedRef: null, setAt: 1_000 },
};
const deleted: VariableEvent = { type: 'VariableDeleted', data: { name: 'A', replacedRef: 'sec_1', deletedAt: 2_000 } };
const HASH = { salt: 's', keyHash: 'h' };
const hashed: VariableEvent = { type: 'VariableHashed', data: { name: 'A', hash: null, hashedAt: 500 } };
const setting = (name: string, hash: TokenHash | null = HASH) =>
  ({ type: 'set', name, valueRef: 'sec_2', hash, now: 3_000 }) as const;
const keeping = (valueRef: string | null, hash: TokenHash | null = HASH) =>
  ({ type: 'keep_hash', name: 'A', valueRef, hash, now: 2_500 }) as const;
const deleting = { type: 'delete', name: 'A', now: 2_000 } as const;

describe('a variable', () => {
  it('is set, and set again with the reference that its new value replaces', () => {
    const again = (replacedRef: string | null): VariableEvent => ({
      type: 'VariableSet',
      data: { name: 'A', valueRef: 'sec_2', replacedRef, setAt: 3_000 },
    });
    given(variable).when(setting('A')).then(again(null));
    given(variable, [set]).when(setting('A')).then(again('sec_1'));
    given(variable, [set, deleted]).when(setting('A')).then(again(null));
  });

  it('is deleted once', () => {
    given(variable, [set]).when(deleting).then(deleted);
    given(variable, [set, deleted]).when(deleting).thenThrows('variable.not_found');
    given(variable).when(deleting).thenThrows('variable.not_found');
  });

  it('keeps a hash once a token names it, of its value and of each that follows', () => {
    const data = { name: 'A', hash: HASH, hashedAt: 2_500 };
    given(variable, [set]).when(keeping('sec_1')).then({ type: 'VariableHashed', data });
    given(variable)
      .when(keeping(null, null))
      .then({ type: 'VariableHashed', data: { ...data, hash: null } });
    given(variable, [set, { type: 'VariableHashed', data }])
      .when(keeping('sec_1'))
      .thenNothingHappened();
    const again = { name: 'A', valueRef: 'sec_2', replacedRef: null, setAt: 3_000 };
    given(variable, [hashed])
      .when(setting('A'))
      .then({ type: 'VariableSet', data: { ...again, hash: HASH } });
    given(variable, [hashed]).when(setting('A', null)).then({ type: 'VariableSet', data: again });
    given(variable, [hashed, set, deleted])
      .when(setting('A'))
      .then({ type: 'VariableSet', data: { ...again, hash: HASH } });
  });

  it('keeps no hash of a value that it has no more', () => {
    for (const [events, read] of [
      [[set], null],
      [[set], 'sec_0'],
      [[set, deleted], 'sec_1'],
      [[], 'sec_1'],
    ] as const)
      given<VariableCommand, VariableEvent, VariableState>(variable, events).when(keeping(read)).thenNothingHappened();
  });

  it('does not exist for deletions while only its hash is awaited', () => {
    given(variable, [hashed]).when(deleting).thenThrows('variable.not_found');
    given(variable, [hashed, set, deleted]).when(deleting).thenThrows('variable.not_found');
  });

  it.each(['12345678', 'x'.repeat(512)])('may be a token with the value %j', (value) =>
    expect(hashOfValue(value, () => HASH)).toBe(HASH),
  );

  it.each(['1234567', 'x'.repeat(513), 'secret token', 'secret-\ntoken', 'sécret-token', ''])(
    'is no token with the value %j',
    (value) => expect(hashOfValue(value, () => HASH)).toBeNull(),
  );

  it.each(['A', '_', 'a1', '__proto__', 'NODE', 'LDAP_URL', 'x'.repeat(100)])('may have the name %s', (name) => {
    given(variable)
      .when(setting(name))
      .thenState((state) => expect(state).toMatchObject({ name }));
  });

  it.each(['', '1A', 'A-B', 'A B', 'ä', 'A\n', 'x'.repeat(101)])('may not have the name %j', (name) => {
    given(variable)
      .when(setting(name))
      .thenThrows('request.invalid_parameter', /letters, digits and _/);
  });

  it.each(['SLUICE_X', 'NODE_OPTIONS', 'LD_PRELOAD'])('may not have the reserved name %s', (name) => {
    given(variable)
      .when(setting(name))
      .thenThrows('request.invalid_parameter', /must not begin with/);
  });

  it.each(['', 'x'.repeat(65_537), '€'.repeat(21_846)])('may not have a value beyond its limits', (value) => {
    expect(() => checkValue(value)).toThrow(DomainError);
  });

  it('may have a value of 64 KB', () => {
    expect(() => checkValue('x'.repeat(65_536))).not.toThrow();
  });

  it('has an id of its own in each workspace', () => {
    const ids = [variableId('o_1', 'A'), variableId('o_1', 'B'), variableId('o_2', 'A')];
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^var_[0-9a-z]{18}$/);
  });
});
