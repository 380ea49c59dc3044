import { describe, expect, it } from '@jest/globals';
import { GoldenEvents, type GoldenName } from '#libs/kernel/testing/golden-events.js';
import { variablesContext } from './context.js';
import { variable } from './domain/variable.js';
import { type VariableEvent } from './published.js';

const golden = new GoldenEvents(variablesContext);
const after = (...names: GoldenName<VariableEvent>[]) => golden.after(variable, ...names);

const CASES: Record<VariableEvent['type'], () => void> = {
  VariableSet: () =>
    expect(after('VariableSet')).toEqual({
      name: 'API_KEY',
      valueRef: 'sec_1k2f9x8a1b3c5d7e9f',
      updatedAt: 1763712001000,
      isHashed: false,
    }),
  VariableHashed: () => {
    expect(after('VariableHashed')).toEqual({
      name: 'API_KEY',
      valueRef: null,
      updatedAt: 1763712001500,
      isHashed: true,
    });
    expect(after('VariableHashed', 'VariableSet.hash')).toMatchObject({
      valueRef: 'sec_1k2f9x8a1b3c5d7e9f',
      updatedAt: 1763712001000,
      isHashed: true,
    });
  },
  VariableDeleted: () => expect(after('VariableSet', 'VariableDeleted')).toBeNull(),
};

describe('every version of an event of variables', () => {
  it.each(Object.entries(CASES))('%s folds', (_, check) => check());
});
