import { describe, expect, it } from '@jest/globals';
import { type DeployedStep, type WorkflowTrigger } from '../published.js';
import { type KnownVersion, pinOf, type PinnedComponent, type StoredSource, withOthersOf } from './stored-version.js';

const version = (
  steps: readonly (readonly [namespace: string, uses: string, pin: string])[],
  sources: readonly (readonly [trigger: string, uses: string])[] = [],
): KnownVersion => ({
  triggers: sources.map(([name]) => ({ kind: 'source', name }) as WorkflowTrigger),
  stored: {
    deployed: { steps: steps.map(([namespace]) => ({ namespace }) as DeployedStep) } as never,
    definition: {
      steps: steps.map(([namespace, uses]) => ({ namespace, uses })),
      triggers: sources.map(([name, uses]) => ({ type: 'source', name, uses })),
    },
    components: steps.map(([, , id]) => ({ id }) as PinnedComponent),
    sources: sources.map(
      ([trigger, uses]) => ({ trigger, uses, definition: { componentId: `sc_${trigger}` } }) as StoredSource,
    ),
  },
});

describe('a version with what only another one has', () => {
  it('goes first where both have a name, and looks for the others in the other one', () => {
    const first = version([['a', 'x', 'sc_1']], [['t', 'u']]);
    const second = version(
      [
        ['a', 'y', 'sc_2'],
        ['b', 'z', 'sc_3'],
      ],
      [
        ['t', 'v'],
        ['s', 'w'],
      ],
    );
    const both = withOthersOf(first, second);
    expect(both?.stored.deployed.steps.map(({ namespace }) => namespace)).toEqual(['a', 'b']);
    expect(both?.triggers.map(({ name }) => name)).toEqual(['t', 's']);
    expect(both?.stored.definition['triggers']).toHaveLength(2);
    expect(['x', 'y', 'z', 'u', 'v', 'w'].map((uses) => pinOf(both?.stored, uses))).toEqual([
      'sc_1',
      undefined,
      'sc_3',
      'sc_t',
      undefined,
      'sc_s',
    ]);
  });

  it('has no step of other files, whose code may be another', () => {
    const both = withOthersOf(version([]), version([['a', './a.js', 'sc_1']]));
    expect(both?.stored.components).toEqual([]);
    expect(pinOf(both?.stored, './a.js')).toBeUndefined();
  });

  it('is the one that there is', () => {
    const one = version([['a', 'x', 'sc_1']]);
    expect(withOthersOf(one, undefined)).toBe(one);
    expect(withOthersOf(undefined, one)).toBe(one);
    expect(withOthersOf(undefined, undefined)).toBeUndefined();
  });
});
